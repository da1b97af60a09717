import { execFileSync } from 'node:child_process'
import { appendFile, chmod, link, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { restoreBackup } from '../../src/process/backup.ts'
import { startPrivateRedis } from '../../src/process/redis.ts'
import { saveImage } from '../../src/process/stored-data.ts'
import { openRedis, type Redis } from '../../src/store/index.ts'
import { temporaryDir } from '../support/running.ts'

const MEGABYTE = 1024 * 1024
const COMMAND = '*3\r\n$3\r\nSET\r\n$7\r\nforeign\r\n$1\r\n1\r\n'
const ID = '01234567-89ab-cdef-0123-456789abcdef\n'
const manifest = { format: 1, data_format: 0, version: '9.9.9', at: '2026-11-22T10:00:00.000Z' }

it('a restore refuses a backup whose image is an append-only file', async () => {
  const backup = await foreignBackup()
  await writeFile(join(backup.files, 'redis.rdb'), COMMAND)
  await expect(backup.restore()).rejects.toThrow('Redis cannot load the image: Wrong signature.')
  expect(await backup.restored()).toEqual([])
})

it('a restore refuses a backup with an incomplete image', async () => {
  const backup = await foreignBackup()
  await writeFile(join(backup.files, 'redis.rdb'), 'REDIS0009')
  await expect(backup.restore()).rejects.toThrow('Redis cannot load the image: Unexpected EOF reading RDB file.')
  expect(await backup.restored()).toEqual([])
})

it('a restore runs no command that follows the image of a backup', async () => {
  const backup = await foreignBackup()
  await appendFile(join(backup.files, 'redis.rdb'), COMMAND)
  await backup.restore()
  const redis = await privateRedis(backup.dataDir)
  expect(await redis.keys('*')).toEqual(['own'])
})

it('a restore refuses a backup whose image contains functions', async () => {
  const library = "#!lua name=foreign\nredis.register_function('foreign', function() return 1 end)"
  const backup = await foreignBackup((redis) => redis.call('FUNCTION', 'LOAD', library))
  await expect(backup.restore()).rejects.toThrow('The image of Redis holds functions.')
  expect(await backup.restored()).toEqual([])
})

it('a restore keeps the image, and each write after it, over a SIGKILL', async () => {
  const backup = await foreignBackup()
  await backup.restore()
  const first = await startPrivateRedis(backup.dataDir, 64 * MEGABYTE)
  const client = clientOf(first.url)
  await client.set('later', '1')
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  const redis = await privateRedis(backup.dataDir)
  expect((await redis.keys('*')).toSorted()).toEqual(['later', 'own'])
})

const NO_FILES: [what: string, make: (file: string) => unknown][] = [
  ['a symbolic link', (file) => symlink('/etc/hostname', file)],
  ['a hard link', (file) => link(join(file, '../manifest.json'), file)],
  ['a pipe', (file) => execFileSync('sh', ['-c', 'mkfifo "$0"', file])],
]
it.each(NO_FILES)('a restore refuses a backup with %s in place of its database', async (_what, make) => {
  const backup = await foreignBackup()
  await make(join(backup.files, 'tracking.sqlite'))
  await expect(backup.restore()).rejects.toThrow(/: (?:manifest\.json|tracking\.sqlite) is a link, or no file\.$/)
  expect(await backup.restored()).toEqual([])
})

it('a restore takes no other files and no permissions from a backup', async () => {
  const backup = await foreignBackup()
  for (const name of ['installation', 'admin-token', 'redis.conf', 'ports.json']) {
    await writeFile(join(backup.files, name), ID)
    await chmod(join(backup.files, name), 0o6777)
  }
  await backup.restore()
  expect(await backup.restored()).toEqual(['admin-token', 'installation', 'redis'])
  const modes = ['installation', 'admin-token', 'redis'].map(async (name) => {
    return ((await stat(join(backup.dataDir, name))).mode & 0o7777).toString(8)
  })
  expect(await Promise.all(modes)).toEqual(['600', '600', '700'])
  expect(await readFile(join(backup.dataDir, 'installation'), 'utf8')).toBe(ID)
})

it('a restore refuses a backup whose version contains control characters', async () => {
  const backup = await foreignBackup()
  await writeFile(join(backup.files, 'manifest.json'), JSON.stringify({ ...manifest, version: '\u001b[2J' }))
  await expect(backup.restore()).rejects.toThrow('is no backup of waybridge.')
})

/** Returns the files of a foreign backup, with the image of a Redis that has the key `own`. */
async function foreignBackup(prepare: (redis: Redis) => Promise<unknown> = async () => {}) {
  const dir = await temporaryDir()
  const [files, dataDir, file] = ['files', 'data', 'backup.tar.gz'].map((name) => join(dir, name))
  await mkdir(files)
  await writeFile(join(files, 'manifest.json'), JSON.stringify(manifest))
  await writeImage(join(files, 'redis.rdb'), prepare)

  async function restore(): Promise<void> {
    execFileSync('tar', ['-czf', file, '-C', files, ...(await readdir(files))])
    await restoreBackup(file, { dataDir, maxMemory: 64 * MEGABYTE, version: 'x', logger: pino({ enabled: false }) })
  }

  /** Returns the content of the data folder without locks. */
  async function restored(): Promise<string[]> {
    return (await readdir(dataDir)).filter((name) => !/\.lock/.test(name)).toSorted()
  }

  return { files, dataDir, restore, restored }
}

async function writeImage(file: string, prepare: (redis: Redis) => Promise<unknown>): Promise<void> {
  const other = await temporaryDir()
  const redis = await privateRedis(other)
  await redis.set('own', '1')
  await prepare(redis)
  await saveImage(redis, join(other, 'redis/dump.rdb'), join(other, 'image'))
  await writeFile(file, await readFile(join(other, 'image')))
}

async function privateRedis(dataDir: string): Promise<Redis> {
  const { url, stop } = await startPrivateRedis(dataDir, 64 * MEGABYTE)
  onTestFinished(stop)
  return clientOf(url)
}

function clientOf(url: string): Redis {
  const redis = openRedis(url, { retryStrategy: () => null }).on('error', () => {})
  onTestFinished(() => redis.disconnect())
  return redis
}
