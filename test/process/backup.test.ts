import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chmod, chown, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { backUp, restoreBackup } from '../../src/process/backup.ts'
import { lockDataDir } from '../../src/process/data-dir.ts'
import { startPrivateRedis } from '../../src/process/redis.ts'
import { openRedis, shardKeys } from '../../src/store/index.ts'
import { run, temporaryDir } from '../support/running.ts'

const FOLDER = fileURLToPath(new URL('../support/data-format-1/data', import.meta.url))
const CLI = fileURLToPath(new URL('../../src/cli/index.ts', import.meta.url))
const soon = { timeout: 20_000, interval: 5 }
const logger = pino({ enabled: false })
const MEGABYTE = 1024 * 1024

it('a backup of a stopped product changes nothing in the data folder, and contains its data', async () => {
  const { dataDir, file, options } = await folderOfBefore()
  await chmod(join(dataDir, 'tracking.sqlite'), 0o644)
  const before = await listing(dataDir)
  await backUp(file, options)
  expect(await listing(dataDir)).toEqual(before)

  const restored = { ...options, dataDir: join(await temporaryDir(), 'data') }
  await restoreBackup(file, restored)
  expect(await keysOf(restored.dataDir)).toBe(await keysOf(dataDir))
  expect(tables(restored.dataDir)).toEqual(tables(dataDir))
})

it('a backup after a killed run changes nothing in the data folder, with its locks and database log', async () => {
  const { dataDir, file, options } = await folderOfBefore()
  const unlock = await lockDataDir(dataDir, logger)
  const database = new DatabaseSync(join(dataDir, 'tracking.sqlite'))
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE later (id); INSERT INTO later VALUES (1)')
  const killed = join(await temporaryDir(), 'data')
  await cp(dataDir, killed, { recursive: true })
  database.close()
  unlock()
  const before = await listing(killed)
  for (const name of ['tracking.sqlite-wal', 'start.lock-journal'])
    expect(before).toContainEqual(expect.stringMatching(`^${name} `))
  await backUp(file, { ...options, dataDir: killed })
  expect(await listing(killed)).toEqual(before)
  const restored = { ...options, dataDir: join(await temporaryDir(), 'data') }
  await restoreBackup(file, restored)
  expect(tables(restored.dataDir)).toContain('later')
})

it.skipIf(process.getuid!() !== 0)('a backup that root restores belongs to the user of the service', async () => {
  const { file, options } = await folderOfBefore()
  await backUp(file, options)
  const service = await temporaryDir()
  await chown(service, 1234, 1235)
  const dataDir = join(service, 'data')
  await restoreBackup(file, { ...options, dataDir })
  const names = ['', ...(await readdir(dataDir, { recursive: true }))]
  expect(names).toContain('redis')
  for (const name of names) expect(await stat(join(dataDir, name))).toMatchObject({ uid: 1234, gid: 1235 })
})

it('a backup of a running product changes nothing in the data folder', async () => {
  const { dataDir, file, options } = await folderOfBefore()
  const unlock = await lockDataDir(dataDir, logger)
  onTestFinished(unlock)
  const redis = await startPrivateRedis(dataDir, 64 * MEGABYTE)
  onTestFinished(() => redis.stop())
  const database = new DatabaseSync(join(dataDir, 'tracking.sqlite'))
  onTestFinished(() => database.close())
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE later (id); INSERT INTO later VALUES (1)')
  // The log of Redis and the reader file of SQLite change by themselves.
  const stored = async () => (await listing(dataDir)).filter((line) => !/redis\.log|sqlite-shm/.test(line))
  const before = await stored()
  await backUp(file, options)
  expect(await stored()).toEqual(before)
})

it('a backup succeeds after one that failed because Redis could not write its image', async () => {
  const { dataDir, file, options } = await folderOfBefore()
  onTestFinished(await lockDataDir(dataDir, logger))
  const redis = await startPrivateRedis(dataDir, 64 * MEGABYTE)
  onTestFinished(() => redis.stop())
  const client = openRedis(redis.url, {})
  onTestFinished(() => client.disconnect())
  // Large enough that writing the image takes longer than reading its state.
  await client.eval("for i = 1, 200000 do redis.call('SET', 'filler' .. i, i) end", 0)
  const image = join(dataDir, 'redis', 'dump.rdb')
  await mkdir(image)
  await client.bgsave()
  await expect.poll(() => client.info('persistence')).toContain('rdb_last_bgsave_status:err')
  await rm(image, { recursive: true })
  await backUp(file, options)
  const restored = { ...options, dataDir: join(await temporaryDir(), 'data') }
  await restoreBackup(file, restored)
})

it('two backups at once both succeed', async () => {
  const { dataDir, file, options } = await folderOfBefore()
  onTestFinished(await lockDataDir(dataDir, logger))
  const redis = await startPrivateRedis(dataDir, 64 * MEGABYTE)
  onTestFinished(() => redis.stop())
  const files = [file, `${file}.second`]
  await Promise.all(files.map((each) => backUp(each, options)))
  for (const each of files) await restoreBackup(each, { ...options, dataDir: join(await temporaryDir(), 'data') })
})

it('two backups at once to the same file leave a complete one', async () => {
  const { dataDir, file, options } = await folderOfBefore()
  await writeFile(join(dataDir, 'installation'), randomBytes(20 * MEGABYTE))
  await Promise.all(Array.from({ length: 3 }, () => backUp(file, options)))
  await restoreBackup(file, { ...options, dataDir: join(await temporaryDir(), 'data') })
})

it('a backup contains kept delivered fixes only on request', async () => {
  const { dataDir, file, options } = await folderOfBefore()
  const { keptHours, keptPrefix } = shardKeys('{wb1}')
  const redis = await startPrivateRedis(dataDir, 64 * MEGABYTE)
  const client = openRedis(redis.url, {})
  const before = await client.dbsize()
  await client.hset(keptHours, '498878', '1', 'since', '1795960500000')
  await client.sadd(`${keptPrefix}498878`, '356307042441013')
  await client.rpush(`${keptPrefix}498878:356307042441013`, Buffer.from('ff372f312f32', 'hex'))
  const kept = join(await temporaryDir(), 'kept.tar.gz')
  // Once while the product runs, and once while it does not.
  await backUp(file, options)
  expect(await client.dbsize()).toBe(before + 3)
  client.disconnect()
  await redis.stop()
  await backUp(kept, { ...options, withKept: true })
  const later = join(await temporaryDir(), 'later.tar.gz')
  await backUp(later, options)

  const keys = [file, kept, later].map(async (each) => {
    const restored = { ...options, dataDir: join(await temporaryDir(), 'data') }
    await restoreBackup(each, restored)
    return keysOf(restored.dataDir)
  })
  expect(await Promise.all(keys)).toEqual([before, before + 3, before])
  expect(await keysOf(dataDir)).toBe(before + 3)
})

it('a backup is refused while a start begins in the data folder', async () => {
  const { dataDir, file, options } = await folderOfBefore()
  onTestFinished(await lockDataDir(dataDir, logger))
  await expect(backUp(file, options)).rejects.toThrow('Another start is running')
})

it('a start refuses a data folder in which a restore was killed', async () => {
  const { file, options } = await folderOfBefore()
  await backUp(file, options)
  const config = await temporaryDir()
  const dataDir = join(config, 'data')
  await writeFile(join(config, 'gateway.yaml'), `data_dir: ${dataDir}\nlog: { level: fatal }\n`)
  const restore = run([CLI, 'restore', file, '--config', config])
  await expect.poll(() => readdir(dataDir).catch(() => []), soon).toContainEqual(expect.stringMatching(/^backup-/))
  restore.child.kill('SIGKILL')
  await restore.ended
  const refused = `A restore into ${dataDir} did not end: empty that folder, and restore again.`
  await expect(lockDataDir(dataDir, logger)).rejects.toThrow(refused)
  await expect(restoreBackup(file, { ...options, dataDir })).rejects.toThrow(refused)
  await rm(dataDir, { recursive: true })
  await restoreBackup(file, { ...options, dataDir })
  const unlock = await lockDataDir(dataDir, logger)
  unlock()
})

it('a start accepts a data folder that contains a backup file', async () => {
  const dataDir = await temporaryDir()
  await writeFile(join(dataDir, 'backup-2026-11-30.tgz'), '')
  await mkdir(join(dataDir, 'backup-of-last-year'))
  const unlock = await lockDataDir(dataDir, logger)
  unlock()
})

it('a file with an unreadable manifest is not accepted as a backup', async () => {
  const { dataDir, file, options } = await folderOfBefore()
  for (const name of ['manifest.json', 'redis.rdb']) await writeFile(join(dataDir, name), '')
  execFileSync('tar', ['-czf', file, '-C', dataDir, 'manifest.json', 'redis.rdb'])
  const fresh = { ...options, dataDir: join(await temporaryDir(), 'data') }
  await expect(restoreBackup(file, fresh)).rejects.toThrow(`${file} is no backup of waybridge.`)
})

async function folderOfBefore() {
  const dir = await temporaryDir()
  const dataDir = join(dir, 'data')
  await mkdir(dataDir)
  await cp(FOLDER, dataDir, { recursive: true })
  return {
    dataDir,
    file: join(dir, 'backup.tar.gz'),
    options: { dataDir, maxMemory: 64 * MEGABYTE, version: 'x', logger },
  }
}

/** Returns path, permissions and content of everything in a folder. */
async function listing(dir: string): Promise<string[]> {
  const names = (await readdir(dir, { recursive: true })).toSorted()
  const lines = names.map(async (name) => {
    const found = await stat(join(dir, name))
    const content = found.isFile()
      ? createHash('sha256')
          .update(await readFile(join(dir, name)))
          .digest('hex')
      : ''
    return `${name} ${found.mode.toString(8)} ${content}`
  })
  return Promise.all(lines)
}

/** Returns the number of keys in the Redis of a folder. */
async function keysOf(dataDir: string): Promise<number> {
  const redis = await startPrivateRedis(dataDir, 64 * MEGABYTE)
  const client = openRedis(redis.url, {})
  const count = await client.dbsize()
  client.disconnect()
  await redis.stop()
  return count
}

function tables(dataDir: string): unknown[] {
  const database = new DatabaseSync(join(dataDir, 'tracking.sqlite'))
  const rows = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  database.close()
  return rows.map(({ name }) => name)
}
