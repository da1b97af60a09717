import { appendFile, chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type PrivateRedis, startFailure, startPrivateRedis } from '../../src/process/redis.ts'
import { findRedisServer } from '../../src/process/setup/redis-server.mjs'
import { OF_FIRST_VERSION } from '../../src/store/format.ts'
import { openRedis } from '../../src/store/index.ts'
import { fixture, processesOn, run, temporaryDir } from '../support/running.ts'

const MEGABYTE = 1024 * 1024

it('the private Redis runs with the settings that prevent loss', async () => {
  const { redis } = await started(await temporaryDir())
  const client = clientOf(redis.url)
  const settings = ['appendonly', 'appendfsync', 'maxmemory-policy', 'maxmemory', 'save', 'port', 'unixsocketperm']
  expect(await Promise.all(settings.map((name) => client.config('GET', name)))).toEqual([
    ['appendonly', 'yes'],
    ['appendfsync', 'always'],
    ['maxmemory-policy', 'noeviction'],
    ['maxmemory', String(64 * MEGABYTE)],
    ['save', ''],
    ['port', '0'],
    ['unixsocketperm', '600'],
  ])
})

it('the private Redis listens on a socket in its folder that only the owner can reach, and on no port', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  const socket = join(dataDir, 'redis/redis.sock')
  expect(redis.url).toBe(pathToFileURL(socket).href.replace('file:', 'unix:'))
  const files = ['', 'redis.sock', 'endpoint.json', 'redis.conf', 'redis.log'].map((file) =>
    stat(join(dataDir, 'redis', file)),
  )
  expect((await Promise.all(files)).map(({ mode }) => mode & 0o077)).toEqual([0, 0, 0, 0, 0])
  const info = await clientOf(redis.url).info('server')
  expect(info).toContain('tcp_port:0')
})

it('the private Redis listens in the runtime directory if the path of its folder is too long, in a folder of this user alone', async () => {
  const base = await temporaryDir()
  const runtime = join(base, 'run')
  await mkdir(runtime)
  vi.stubEnv('XDG_RUNTIME_DIR', runtime)
  onTestFinished(() => void vi.unstubAllEnvs())
  const long = join(base, 'x'.repeat(120))
  const { redis } = await started(long)
  expect(await clientOf(redis.url).ping()).toBe('PONG')
  const [folder] = await readdir(runtime)
  expect(fileURLToPath(redis.url.replace('unix:', 'file:'))).toBe(join(runtime, folder, 'redis.sock'))
  expect((await stat(join(runtime, folder))).mode & 0o777).toBe(0o700)
  await redis.stop()
  await chmod(join(runtime, folder), 0o755)
  await expect(started(long)).rejects.toThrow(`${join(runtime, folder)} is not this user's alone`)
})

it('the private Redis keeps acknowledged data over a SIGKILL, and its URL', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  await clientOf(redis.url).rpush('lane', 'a', 'b')
  process.kill(redis.pid, 'SIGKILL')
  await redis.exited
  const again = await started(dataDir)
  expect(again.redis.url).toBe(redis.url)
  expect(await clientOf(again.redis.url).lrange('lane', 0, -1)).toEqual(['a', 'b'])
})

it('a start ends a Redis that still runs before it starts another one on the same folder', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  await clientOf(redis.url).set('a', '1')
  const again = await started(dataDir)
  await redis.exited
  expect(again.redis.url).toBe(redis.url)
  expect(await clientOf(again.redis.url).get('a')).toBe('1')
})

it.each(['', '\0\0\0\0', '{}', 'null'])(
  'the private Redis starts although a power loss left endpoint.json as %j',
  async (text) => {
    const dataDir = await temporaryDir()
    await mkdir(join(dataDir, 'redis'))
    const file = join(dataDir, 'redis/endpoint.json')
    await writeFile(file, text)
    const lines: string[] = []
    const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
    const redis = await startPrivateRedis(dataDir, 64 * MEGABYTE, { logger })
    onTestFinished(() => redis.stop())
    expect(await clientOf(redis.url).ping()).toBe('PONG')
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      `${file} cannot be read, as after a loss of power: it counts as missing`,
    ])
  },
)

it('the private Redis does not start on a folder of version 0.1.0, and says what to do', async () => {
  const dataDir = await temporaryDir()
  await mkdir(join(dataDir, 'redis'))
  await writeFile(join(dataDir, 'redis/endpoint.json'), '{"port":6390,"password":"old"}')
  await expect(startPrivateRedis(dataDir, 64 * MEGABYTE)).rejects.toThrow(OF_FIRST_VERSION)
  expect(await readdir(join(dataDir, 'redis'))).toEqual(['endpoint.json'])
})

it('the private Redis does not start while a process on its socket does not answer, and leaves that alone', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  process.kill(redis.pid, 'SIGSTOP')
  onTestFinished(() => void process.kill(redis.pid, 'SIGCONT'))
  const sentence = 'redis.sock of the private Redis and does not answer: end it, then start again.'
  await expect(started(dataDir)).rejects.toThrow(sentence)
  process.kill(redis.pid, 'SIGCONT')
  expect(await clientOf(redis.url).ping()).toBe('PONG')
})

it('the private Redis ends when its parent is killed', async () => {
  const dataDir = await temporaryDir()
  const { child, ended, said } = run([fixture('redis.ts'), dataDir])
  await expect.poll(said).toBe('ready\n')
  expect(processesOn(dataDir).length).toBeGreaterThan(1)
  child.kill('SIGKILL')
  expect(await ended).toBe('SIGKILL')
  await expect.poll(() => processesOn(dataDir), { timeout: 30_000 }).toEqual([])
})

it('the private Redis loads a file that a crash has truncated', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  await clientOf(redis.url).set('a', '1')
  await redis.stop()
  await appendFile(await newestFile(dataDir), '*3\r\n$3\r\nSET\r\n$1\r\nb')
  expect(await clientOf((await started(dataDir)).redis.url).keys('*')).toEqual(['a'])
})

it('the private Redis reports which folder is damaged and which command repairs it', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  await clientOf(redis.url).set('a', '1')
  await redis.stop()
  await appendFile(await newestFile(dataDir), 'no command\r\n'.repeat(10))
  const failure = started(dataDir)
  await expect(failure).rejects.toThrow(
    `The files of the private Redis in ${dataDir}/redis are damaged (Bad file format`,
  )
  const [flavour] = basename(findRedisServer()!.command).split('-')
  await expect(failure).rejects.toThrow(new RegExp(`then repair it: .*\\b${flavour}-check-aof --fix `))
})

it.each([
  ['MODULE', 'LOAD', '/tmp/foreign.so'],
  ['REPLICAOF', '127.0.0.1', '1'],
  ['SLAVEOF', '127.0.0.1', '1'],
  ['DEBUG', 'SLEEP', '0'],
])('the private Redis does not start with a file that contains the command %s', async (...command) => {
  const { redis, dataDir } = await started(await temporaryDir())
  await clientOf(redis.url).set('a', '1')
  await redis.stop()
  const text = command.map((word) => `$${word.length}\r\n${word}\r\n`).join('')
  await appendFile(await newestFile(dataDir), `*${command.length}\r\n${text}`)
  await expect(started(dataDir)).rejects.toThrow(new RegExp(`unknown command '${command[0]}'`, 'i'))
})

it('the private Redis reports a full disk', () => {
  const log = '99:M 20 Nov 2026 10:00:00.000 # Error opening AOF: No space left on device\n'
  const failure = startFailure(log, { server: { command: '/bin/redis-server', env: {} }, dir: '/data/redis' })
  expect(failure.message).toBe('The disk with /data/redis is full: make room on it.')
})

it('the private Redis keeps the log of the previous run', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  await redis.stop()
  const log = await readFile(`${dataDir}/redis/redis.log`, 'utf8')
  await started(dataDir)
  expect(await readFile(`${dataDir}/redis/redis.log.1`, 'utf8')).toBe(log)
  expect(await readFile(`${dataDir}/redis/redis.log`, 'utf8')).toMatch(/^\d+:/)
})

async function started(dataDir: string): Promise<{ redis: PrivateRedis; dataDir: string }> {
  const redis = await startPrivateRedis(dataDir, 64 * MEGABYTE)
  onTestFinished(() => redis.stop())
  return { redis, dataDir }
}

function clientOf(url: string): Redis {
  const client = openRedis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 })
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  return client
}

/** Redis 7 writes to the newest file of a folder, 6.2 to one file. */
async function newestFile(dataDir: string): Promise<string> {
  const manifest = await readFile(`${dataDir}/redis/appendonlydir/appendonly.aof.manifest`, 'utf8').catch(() => '')
  const name = /^file (\S+) seq \d+ type i/m.exec(manifest)?.[1]
  return name ? `${dataDir}/redis/appendonlydir/${name}` : `${dataDir}/redis/appendonly.aof`
}
