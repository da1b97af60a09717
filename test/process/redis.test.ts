import { appendFile, readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { type PrivateRedis, startFailure, startPrivateRedis } from '../../src/process/redis.ts'
import { listening } from '../support/listening.ts'
import { fixture, processesOn, run, temporaryDir } from '../support/running.ts'

const MEGABYTE = 1024 * 1024

it('runs Redis with the settings that prevent loss', async () => {
  const { redis } = await started(await temporaryDir())
  const client = clientOf(redis.url)
  const settings = ['appendonly', 'appendfsync', 'maxmemory-policy', 'maxmemory', 'save', 'protected-mode', 'bind']
  expect(await Promise.all(settings.map((name) => client.config('GET', name)))).toEqual([
    ['appendonly', 'yes'],
    ['appendfsync', 'always'],
    ['maxmemory-policy', 'noeviction'],
    ['maxmemory', String(64 * MEGABYTE)],
    ['save', ''],
    ['protected-mode', 'yes'],
    ['bind', '127.0.0.1 -::1'],
  ])
})

it('refuses commands without the password, which only the owner can read', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  const { port } = new URL(redis.url)
  await expect(clientOf(`redis://127.0.0.1:${port}`).get('a')).rejects.toThrow('NOAUTH')
  const files = ['endpoint.json', 'redis.conf', 'redis.log'].map((file) => stat(`${dataDir}/redis/${file}`))
  expect((await Promise.all(files)).map(({ mode }) => mode & 0o077)).toEqual([0, 0, 0])
})

it('shows the password on no command line', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  const { password } = new URL(redis.url)
  const words = processesOn(dataDir).flatMap(({ command }) => command)
  expect(words.length).toBeGreaterThan(2)
  expect(words.filter((word) => word.includes(password))).toEqual([])
})

it('keeps acknowledged data, port and password over a SIGKILL', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  await clientOf(redis.url).rpush('lane', 'a', 'b')
  process.kill(redis.pid, 'SIGKILL')
  await redis.exited
  const again = await started(dataDir)
  expect(again.redis.url).toBe(redis.url)
  expect(await clientOf(again.redis.url).lrange('lane', 0, -1)).toEqual(['a', 'b'])
})

it('ends a Redis that still runs before it starts another one on the same folder', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  await clientOf(redis.url).set('a', '1')
  const again = await started(dataDir)
  await redis.exited
  expect(again.redis.url).toBe(redis.url)
  expect(await clientOf(again.redis.url).get('a')).toBe('1')
})

it('takes another port and a new password if another program has the port', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  const before = new URL(redis.url)
  await redis.stop()
  const other = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  onTestFinished(() => void other.close())
  await listening(other, Number(before.port))
  const after = new URL((await started(dataDir)).redis.url)
  expect(after.port).not.toBe(before.port)
  expect(after.password).not.toBe(before.password)
})

it('does not start if a process on its port does not answer', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  const port = Number(new URL(redis.url).port)
  await redis.stop()
  const silent = createServer(() => {})
  onTestFinished(() => void silent.close())
  await listening(silent, port)
  const sentence = `A process holds port ${port} of the private Redis and does not answer: end it, then start again.`
  await expect(started(dataDir)).rejects.toThrow(sentence)
})

it('ends when its parent is killed', async () => {
  const dataDir = await temporaryDir()
  const { child, ended, said } = run([fixture('redis.ts'), dataDir])
  await expect.poll(said).toBe('ready\n')
  expect(processesOn(dataDir).length).toBeGreaterThan(1)
  child.kill('SIGKILL')
  expect(await ended).toBe('SIGKILL')
  await expect.poll(() => processesOn(dataDir), { timeout: 10_000 }).toEqual([])
})

it('loads a file that a crash has cut short', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  await clientOf(redis.url).set('a', '1')
  await redis.stop()
  await appendFile(await newestFile(dataDir), '*3\r\n$3\r\nSET\r\n$1\r\nb')
  expect(await clientOf((await started(dataDir)).redis.url).keys('*')).toEqual(['a'])
})

it('reports which folder is damaged and which command repairs it', async () => {
  const { redis, dataDir } = await started(await temporaryDir())
  await clientOf(redis.url).set('a', '1')
  await redis.stop()
  await appendFile(await newestFile(dataDir), 'no command\r\n'.repeat(10))
  const failure = started(dataDir)
  await expect(failure).rejects.toThrow(
    `The files of the private Redis in ${dataDir}/redis are damaged (Bad file format`,
  )
  await expect(failure).rejects.toThrow(/then repair it: \S.*redis-check-aof --fix /)
})

it('reports a full disk', () => {
  const log = '99:M 20 Nov 2026 10:00:00.000 # Error opening AOF: No space left on device\n'
  const failure = startFailure(log, { server: { command: '/bin/redis-server', env: {} }, dir: '/data/redis' })
  expect(failure.message).toBe('The disk with /data/redis is full: make room on it.')
})

it('keeps the log of the run before', async () => {
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
  const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 })
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
