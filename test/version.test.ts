import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import product from '../package.json' with { type: 'json' }
import { temporaryDir } from './support/running.ts'
import { ROOT } from './support/structure/sources.ts'

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

it('the version is the same in package.json, its lock file and the chart, which takes the image of that version', () => {
  const lock = JSON.parse(read('package-lock.json')) as {
    version: string
    packages: Record<string, { version: string }>
  }
  const chart = parse(read('docker/helm/waybridge/Chart.yaml')) as { version: string; appVersion: string }
  const { image } = parse(read('docker/helm/waybridge/values.yaml')) as { image: { tag: string } }
  const all = [lock.version, lock.packages[''].version, chart.version, chart.appVersion]
  expect(all).toEqual(all.map(() => product.version))
  expect(image.tag).toBe('')
})

it('the version is that of the newest changelog section, or a later one while that section is open', () => {
  const sections = Array.from(read('CHANGELOG.md').matchAll(/^## \[(.*?)\]/gm), ([, name]) => name)
  const number = product.version.replace('-dev', '')
  if (sections[0] === 'Unreleased') {
    expect(product.version).toMatch(/^\d+\.\d+\.\d+-dev$/)
    expect(sections).not.toContain(number)
  } else expect(sections[0]).toBe(product.version)
})

describe('the commit of a program', () => {
  beforeEach(({ skip }) => skip(spawnSync('git', ['--version']).status !== 0, 'there is no git'))

  it('the commit is the one checked out in the clone: of a branch, packed references, none, or a worktree', async () => {
    const { dir, git, commit } = await clone()
    const expected = `1.2.3-dev+${commit.slice(0, 12)}`
    expect(versionIn(dir)).toBe(expected)
    git('pack-refs', '--all')
    expect(versionIn(dir)).toBe(expected)
    git('worktree', 'add', '--quiet', '-b', 'other', join(dir, 'tree'))
    expect(versionIn(join(dir, 'tree'))).toBe(expected)
    git('checkout', '--quiet', '--detach')
    expect(versionIn(dir)).toBe(expected)
  })

  it('the commit is that of the build in a package, and unknown without a build and a clone', async () => {
    const { dir } = await clone()
    write(dir, { version: '1.2.3', commit: 'a'.repeat(40) })
    expect(versionIn(dir)).toBe(`1.2.3+${'a'.repeat(12)}`)
    write(dir, { version: '1.2.3' })
    execFileSync('rm', ['-rf', join(dir, '.git')])
    expect(versionIn(dir)).toBe('1.2.3')
  })
})

/** Makes a clone with one commit of a program. */
async function clone() {
  const dir = await temporaryDir()
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', dir, '-c', 'user.name=a', '-c', 'user.email=b', ...args])
  git('init', '--quiet')
  mkdirSync(join(dir, 'src'))
  cpSync(join(ROOT, 'src/version.ts'), join(dir, 'src/version.ts'))
  write(dir, { version: '1.2.3-dev' })
  git('add', '.')
  git('commit', '--quiet', '--message', 'one')
  return { dir, git, commit: git('rev-parse', 'HEAD').toString().trim() }
}

function write(dir: string, described: object): void {
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ type: 'module', ...described }))
}

function versionIn(dir: string): string {
  const script = `console.log((await import(${JSON.stringify(join(dir, 'src/version.ts'))})).VERSION)`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  return stdout.trim() || stderr
}
