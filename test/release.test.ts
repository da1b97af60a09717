import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { closed, problemsOf, raised, sectionOf, VERSIONED } from '../docker/release/version.ts'
import product from '../package.json' with { type: 'json' }
import { temporaryDir } from './support/running.ts'
import { ROOT } from './support/structure/sources.ts'

const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n### To do before you upgrade\n\nNothing.\n\n## [0.1.0] – 2026-11-22\n\nFirst.\n'
const FILES = {
  'CHANGELOG.md': CHANGELOG,
  ...Object.fromEntries(VERSIONED.map((file) => [file, '{"version":"0.2.0-dev"}'])),
}
const read = (files: Readonly<Record<string, string>>) => (file: string) => files[file]

it('a release closes the open section of the changelog, and raises the version', () => {
  const changelog = closed(CHANGELOG, '0.2.0', '2026-12-01')
  expect(changelog).toContain('## [0.2.0] – 2026-12-01\n\n### To do before you upgrade')
  expect(sectionOf(changelog, '0.2.0')).toBe('### To do before you upgrade\n\nNothing.')
  expect(sectionOf(changelog, '0.1.0')).toBe('First.')
  expect(sectionOf(changelog, 'Unreleased')).toBeUndefined()
  expect(raised('version: 0.2.0-dev\nappVersion: 0.2.0-dev\n', '0.2.0')).toBe('version: 0.2.0\nappVersion: 0.2.0\n')
})

it('a release is refused with a tag, without an open section or upgrade notes, and if files disagree', () => {
  expect(problemsOf(read(FILES), false)).toEqual([])
  expect(problemsOf(read(FILES), true)).toEqual(['there is a tag v0.2.0'])
  const shut = read({ ...FILES, 'CHANGELOG.md': closed(CHANGELOG, '0.2.0', '2026-12-01') })
  expect(problemsOf(shut, false)).toEqual(['CHANGELOG.md has no section [Unreleased]'])
  const bare = read({ ...FILES, 'CHANGELOG.md': CHANGELOG.replace('### To do before you upgrade', '') })
  expect(problemsOf(bare, false)).toEqual([expect.stringContaining('### To do before you upgrade')])
  const other = read({ ...FILES, 'docker/helm/waybridge/Chart.yaml': 'version: 0.3.0-dev' })
  expect(problemsOf(other, false)).toEqual(['docker/helm/waybridge/Chart.yaml does not have the version 0.2.0-dev'])
})

// The commit of a release has no open section.
it.runIf(product.version.endsWith('-dev') && existsSync(join(ROOT, '.git')))(
  'a release commits and tags in the clone, unless something is not committed',
  async () => {
    const dir = join(await temporaryDir(), 'clone')
    const git = (...args: string[]) => execFileSync('git', args, { cwd: dir, encoding: 'utf8' }).trim()
    execFileSync('git', ['clone', '--quiet', '--shared', ROOT, dir])
    git('config', 'user.name', 'releaser')
    git('config', 'user.email', 'releaser@example.com')
    const release = () => spawnSync(process.execPath, ['docker/release/index.ts'], { cwd: dir, encoding: 'utf8' })
    const version = product.version.replace('-dev', '')
    writeFileSync(join(dir, 'stray'), '')
    expect(release()).toMatchObject({ status: 1, stderr: 'there are changes that are not committed\n' })
    git('clean', '--force', '--quiet')
    expect(release()).toMatchObject({ status: 0, stderr: '' })
    expect(git('describe')).toBe(`v${version}`)
    expect(git('status', '--porcelain')).toBe('')
    expect(readFileSync(join(dir, 'CHANGELOG.md'), 'utf8')).toMatch(
      new RegExp(`^## \\[${version}\\] – \\d{4}-\\d\\d-\\d\\d$`, 'm'),
    )
    expect(release()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`there is a tag v${version}`) as string,
    })
  },
)

it('every action of a workflow is referenced by the hash of its commit', () => {
  const workflows = globSync('.github/workflows/*.yml', { cwd: ROOT }).map((file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  )
  const used = workflows.flatMap((text) => Array.from(text.matchAll(/uses: (\S+)/g), ([, action]) => action))
  expect(used.length).toBeGreaterThan(5)
  expect(used.filter((action) => !/^\.\/|@[0-9a-f]{40}$/.test(action))).toEqual([])
})

it('every licence statement agrees with package.json, and the licence has its text', () => {
  const chart = readFileSync(join(ROOT, 'docker/helm/waybridge/Chart.yaml'), 'utf8')
  const image = readFileSync(join(ROOT, 'docker/Dockerfile'), 'utf8')
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { license?: string }>
  }
  const claims = [
    lock.packages[''].license,
    (parse(chart) as { annotations?: Record<string, string> }).annotations?.['artifacthub.io/license'],
    /image\.licenses="?([^"\s]+)/.exec(image)?.[1],
  ]
  expect(claims.filter((claim) => claim !== undefined && claim !== product.license)).toEqual([])
  const texts = globSync('LICEN[CS]E*', { cwd: ROOT })
  expect(texts).toHaveLength(product.license === 'UNLICENSED' ? 0 : 1)
})
