import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/*
 * Runs what CI runs, on a machine with Node from 20 on, npm and (on Debian and Ubuntu) apt: sets up what is missing, then runs
 * npm scripts one after the other, as many tests wait for times. Arguments name the scripts; without, all run that are not left
 * to the nights. The last line is `N passed, N failed, N skipped`, after what failed. The exit code is 0 if nothing failed.
 */

/** The scripts with their arguments. Vitest counts its tests; any other script is one test, which exit code 77 skips. */
const SCRIPTS = {
  test: 'vitest',
  'test:long': 'vitest',
  'test:page': 'vitest',
  'test:package': 'vitest',
  lint: [],
  formatted: [],
  unused: [],
  'test:upgrade': [],
  'test:bridge': 'vitest',
  demo: ['--vans', '16', '--seconds', '10'],
  fuzz: ['--frames', '500000'],
  'test:deploy': 'vitest',
  chaos: ['--minutes', '1', '--seed', '12'],
  attack: ['--seconds', '3', '--only', 'vans'],
  release: ['--dry-run'],
  'test:valkey': 'vitest',
}
const NIGHTLY = new Set(['test:valkey'])
const COUNTS = { 0: [1, 0, 0], 77: [0, 0, 1] }
/** Of the output of a script that fails, these are shown again. */
const LAST_LINES = 30

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const named = process.argv.slice(2)
const unknown = named.filter((name) => !(name in SCRIPTS))
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join()}: there are ${Object.keys(SCRIPTS).join(', ')}`)
  process.exit(2)
}
spawnSync(process.execPath, ['src/process/setup/index.mjs'], { stdio: 'inherit' })
const reports = mkdtempSync(join(tmpdir(), 'waybridge-ci-'))
const names = Object.keys(SCRIPTS).filter((name) => (named.length > 0 ? named.includes(name) : !NIGHTLY.has(name)))
const results = []
for (const name of names) results.push(await run(name))
rmSync(reports, { recursive: true })
for (const { name, seconds } of results) console.log(`${name} took ${seconds} s`)
for (const { failures } of results) for (const failure of failures) console.log(`FAILED ${failure}`)
const [passed, failed, skipped] = [0, 1, 2].map((at) => results.reduce((sum, { counts }) => sum + counts[at], 0))
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
process.exitCode = failed === 0 ? 0 : 1

/** Runs one script; prints its lines as they come, behind its name. */
async function run(name) {
  const begun = performance.now()
  const report = join(reports, name.replace(':', '-'))
  const isVitest = SCRIPTS[name] === 'vitest'
  const args = isVitest ? ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`] : SCRIPTS[name]
  const script = spawn('npm', ['run', '--silent', name, '--', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const lines = []
  for (const stream of [script.stdout, script.stderr])
    createInterface(stream).on('line', (line) => {
      lines.push(line)
      console.log(`${name} | ${line}`)
    })
  const code = await new Promise((resolve) => script.once('close', resolve))
  const seconds = Math.round((performance.now() - begun) / 1000)
  const { counts, failures } =
    isVitest && code !== 77 ? read(report, code) : { counts: COUNTS[code] ?? [0, 1, 0], failures: [] }
  // What fails before a test or outside of one (a file that cannot be loaded) counts as one that failed.
  if (code !== 0 && code !== 77 && failures.length === 0)
    failures.push(`npm run ${name}: exit ${code}\n${lines.slice(-LAST_LINES).join('\n')}`)
  return { name, seconds, counts, failures }
}

/** The counts of a report of vitest, and what failed in it. */
function read(report, code) {
  const {
    testResults = [],
    numPassedTests = 0,
    numFailedTests = 0,
    numPendingTests = 0,
    numTodoTests = 0,
  } = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {}
  const failures = testResults.flatMap(({ name, message, assertionResults }) => [
    ...(message ? [`${name}\n${message.slice(0, 2000)}`] : []),
    ...assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => `${name} ${fullName}\n${failureMessages.join('\n').slice(0, 2000)}`),
  ])
  return { counts: [numPassedTests, numFailedTests || (code === 0 ? 0 : 1), numPendingTests + numTodoTests], failures }
}
