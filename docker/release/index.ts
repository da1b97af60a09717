import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeFiles } from './files.ts'
import { closed, problemsOf, raised, releasedVersion, VERSIONED } from './version.ts'

/*
 * `npm run release`: closes the open section of CHANGELOG.md, commits that, and tags the commit; to push it is the last step, yours.
 * `--dry-run`: does so in a copy, makes every file of the release there, and changes nothing.
 * `--files DIR`: makes the files of the version that is checked out, as the workflow `release` does for a tag.
 */
const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean' }, files: { type: 'string' } } })
const ROOT = join(import.meta.dirname, '../..')
/** By this exit code a script says that it cannot run here. */
const SKIPPED = 77

if (values.files !== undefined) list(makeFiles(ROOT, resolve(values.files)))
else if (values['dry-run']) dryRun()
else {
  if (git(ROOT, 'status', '--porcelain') !== '') end('there are changes that are not committed')
  const version = release(ROOT)
  say(`waybridge ${version} is committed and tagged. To publish it: git push --follow-tags`)
}

function dryRun(): void {
  if (!existsSync(join(ROOT, '.git'))) {
    say('there is no repository of git to release from')
    process.exit(SKIPPED)
  }
  const dir = mkdtempSync(join(tmpdir(), 'waybridge-release-'))
  try {
    const copy = join(dir, 'clone')
    git(ROOT, 'clone', '--quiet', '--no-local', ROOT, copy)
    git(copy, 'config', 'user.name', 'dry run')
    git(copy, 'config', 'user.email', '')
    const version = release(copy)
    execFileSync('npm', ['ci', '--silent', '--no-audit', '--no-fund'], { cwd: copy, stdio: 'inherit' })
    mkdirSync(join(dir, 'files'))
    list(makeFiles(copy, join(dir, 'files')))
    say(`waybridge ${version} can be released; nothing was changed`)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Closes the changelog of a clone, raises the version, commits and tags. Returns the version. */
function release(root: string): string {
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const version = releasedVersion(read('package.json'))
  const problems = problemsOf(read, git(root, 'tag', '--list', `v${version}`) !== '')
  if (problems.length > 0) end(problems.join('\n'))
  const today = new Date().toISOString().slice(0, 10)
  for (const file of VERSIONED) writeFileSync(join(root, file), raised(read(file), version))
  writeFileSync(join(root, 'CHANGELOG.md'), closed(read('CHANGELOG.md'), version, today))
  git(root, 'commit', '--quiet', '--all', '--message', `Release ${version}`)
  git(root, 'tag', '--annotate', `v${version}`, '--message', `waybridge ${version}`)
  return version
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

function list(files: readonly string[]): void {
  for (const file of files) say(file)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function end(problem: string): never {
  process.stderr.write(`${problem}\n`)
  process.exit(1)
}
