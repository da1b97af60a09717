import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/*
 * Runs what CI runs, on a machine with Node from 20 on, npm and (on Debian and Ubuntu) apt: sets up what is missing, then runs
 * npm scripts one after the other, as many tests wait for times; checks of the sources run beside them. Without arguments, long
 * scripts run only in part: all takes ten minutes, and `test:deploy`. `.ci/run NAME…` runs these scripts whole. The last line
 * is `N passed, N failed, N skipped`, after what failed. The exit code is 0 if nothing failed.
 */

const filesIn = (folder, ...names) => names.map((name) => `${folder}/${name}.test`)
/**
 * The scripts, in order. `vitest`: its tests are counted; any other script is one test, which exit code 77 skips. `args`: its
 * arguments. `brief`: those of a run without arguments, if they differ; null: such a run leaves the script out.
 */
const SCRIPTS = {
  lint: { isCheck: true },
  formatted: { isCheck: true },
  unused: { isCheck: true },
  test: { vitest: true },
  'test:page': {
    vitest: true,
    brief: filesIn('page', 'actions', 'list', 'openapi-client', 'prometheus', 'roster', 'shell', 'vans', 'views'),
  },
  'test:long': {
    vitest: true,
    brief: [
      ...filesIn('admin', 'company-tokens'),
      ...filesIn('copies', 'bounds', 'mqtt'),
      ...filesIn('gateway/wire', 'matrix'),
      ...filesIn('e2e', 'any-tracker', 'canary', 'gateways', 'newer-data', 'secure', 'shutdown', 'takeover', 'tls'),
      ...filesIn('cli', 'product'),
      ...filesIn('process', 'backup', 'exit-codes', 'role'),
      ...filesIn('store', 'redis-tls'),
      ...filesIn('tracking', 'durability', 'openapi-requests'),
    ],
  },
  'test:bridge': { vitest: true },
  demo: { args: ['--vans', '16', '--seconds', '10'] },
  fuzz: { args: ['--frames', '2000000'], brief: ['--frames', '200000'] },
  chaos: { args: ['--minutes', '2', '--seed', '12'], brief: ['--minutes', '0.5', '--seed', '12'] },
  'test:deploy': { vitest: true },
  release: { args: ['--dry-run'], brief: null },
  attack: { brief: null },
  'test:upgrade': { brief: null },
  'test:package': { vitest: true, brief: null },
  'test:valkey': { vitest: true, brief: null },
}
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
const isWhole = named.length > 0
const names = Object.keys(SCRIPTS).filter((name) => (isWhole ? named.includes(name) : SCRIPTS[name].brief !== null))
const checks = Promise.all(names.filter((name) => SCRIPTS[name].isCheck).map(run))
const results = []
for (const name of names.filter((each) => !SCRIPTS[each].isCheck)) results.push(await run(name))
results.unshift(...(await checks))
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
  const { vitest: isVitest, args: usual = [], brief = usual } = SCRIPTS[name]
  const reporters = isVitest ? ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`] : []
  const args = [...(isWhole ? usual : brief), ...reporters]
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
