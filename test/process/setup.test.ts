import { spawnSync } from 'node:child_process'
import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { namesOwnRedis } from '../../src/process/setup/redis-server.mjs'
import { fixture, run, temporaryDir } from '../support/running.ts'

const WAYBRIDGE = fileURLToPath(new URL('../../src/cli/waybridge.mjs', import.meta.url))
const SETUP = fileURLToPath(new URL('../../src/process/setup.mjs', import.meta.url))

it('does nothing and prints nothing when nothing is missing', () => {
  expect(setUp({})).toEqual([0, '', ''])
})

it('exits with 1 and one sentence if WAYBRIDGE_REDIS_SERVER names no Redis server', () => {
  const sentence = 'WAYBRIDGE_REDIS_SERVER names /bin/true, which is no redis-server or valkey-server 6.2 or later.\n'
  expect(setUp({ WAYBRIDGE_REDIS_SERVER: '/bin/true' })).toEqual([1, '', sentence])
})

it('leaves a missing Redis server to commands that may not need one', () => {
  const env = { WAYBRIDGE_REDIS_SERVER: '/bin/true', npm_lifecycle_event: 'prestart' }
  expect(setUp(env)).toEqual([0, '', ''])
})

it('has every package for other systems in the lock file, which npm ci needs', async () => {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as { packages: Record<string, Locked> }
  const optional = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).map((name) => [`${path}/node_modules/${name}`, `node_modules/${name}`]),
  )
  expect(optional.length).toBeGreaterThan(10)
  expect(optional.filter((places) => places.every((place) => !(place in packages)))).toEqual([])
})

it('has the integrity hash of every package in the lock file', async () => {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as { packages: Record<string, Locked> }
  const without = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && !integrity)
  expect(without.map(([path]) => path)).toEqual([])
})

it('runs one at a time: other set-ups of the folder wait', async () => {
  const dir = await temporaryDir()
  const module = join(dir, 'src/process/setup/lock.mjs')
  await cp(new URL('../../src/process/setup/lock.mjs', import.meta.url), module)
  const programs = [1, 2, 3].map(() => run([fixture('set-up.mjs'), module, join(dir, 'journal')]))
  expect(await Promise.all(programs.map(({ ended }) => ended))).toEqual([0, 0, 0])
  expect(await readFile(join(dir, 'journal'), 'utf8')).toBe('begin end begin end begin end ')
  expect(await readdir(dir)).toEqual(['journal', 'src'])
})

it.each([
  ['redis: { url: redis://10.0.0.5:6379, max_memory: null }', true],
  ['redis: { max_memory: 2gb, url: "${env:REDIS_URL}" }', true],
  ['workers: 2\nredis:\n  # ours\n  max_memory: null\n  url: rediss://redis.example\n', true],
  ['redis: { url: null, max_memory: null }', false],
  ['redis:\n  url: null\n', false],
  ['redis:\n  url: ~\ntracking:\n  base_url: https://api.example\n', false],
  ['redis: { max_memory: 2gb }\ntracking: { url: x }', false],
  ['# redis: { url: redis://10.0.0.5 }', false],
  ['', false],
])('finds in %j whether it names a Redis of the user', (text, expected) => {
  expect(namesOwnRedis(text)).toBe(expected)
})

it('says which Node the product needs when an old Node starts it', () => {
  const old = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.1.0"}})'
  const { status, stderr } = spawnSync(process.execPath, ['--import', old, WAYBRIDGE, 'start'], { encoding: 'utf8' })
  expect(stderr).toMatch(/^waybridge needs Node 24 or later, and this is v[\d.]+: run `npm run setup`, then .*\n$/)
  expect(status).toBe(1)
})

interface Locked {
  readonly integrity?: string
  readonly optionalDependencies?: Record<string, string>
}

function setUp(env: Record<string, string>): [number | null, string, string] {
  const { npm_lifecycle_event: _, ...own } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [SETUP], { env: { ...own, ...env }, encoding: 'utf8' })
  return [status, stdout, stderr]
}
