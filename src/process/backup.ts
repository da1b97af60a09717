import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { UserError } from '../errors.ts'
import { FORMAT, openRedis, readFormat, type Redis, tooNew } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { lockDataDir } from './data-dir.ts'
import { fetchMissingRedis, startPrivateRedis } from './redis.ts'
import { inspectEndpoint, socketOf, socketUrl } from './redis-endpoint.ts'

/** What a backup says of itself. */
export interface BackupManifest {
  /** Programs that know this number can unpack it. */
  readonly format: number
  /** The format of the data in Redis; undefined: they are older than formats. */
  readonly data_format?: number
  /** The version of waybridge that made the backup. */
  readonly version: string
  /** When it was begun, RFC 3339. */
  readonly at: string
}

export interface BackupOptions {
  /** The data folder. */
  readonly dataDir: string
  /** The memory of the private Redis, in bytes; null: half of that of the machine. */
  readonly maxMemory: number | null
  /** The version of this program. */
  readonly version: string
  readonly logger: Logger
}

/**
 * Writes what a data folder holds to a file, whether the product runs on it or not: first an image of the private Redis, then one
 * of the embedded tracking service. So every acknowledged fix is in one of them; what was delivered in between is in both.
 * @throws UserError
 */
export async function backUp(file: string, options: BackupOptions): Promise<BackupManifest> {
  const { dataDir, version } = options
  if (!existsSync(join(dataDir, 'redis'))) throw new UserError(`${dataDir} has no data of a private Redis.`)
  if (existsSync(file)) throw new UserError(`${file} exists: name another file, or delete it.`)
  const at = new Date().toISOString()
  return inDraftFolder(dataDir, async (draft) => {
    const dump = join(dataDir, 'redis', 'dump.rdb')
    const data_format = await onPrivateRedis(options, async (redis) => {
      await saveImage(redis, dump)
      return readFormat(redis)
    })
    const manifest: BackupManifest = { format: BACKUP_FORMAT, data_format, version, at }
    await rename(dump, join(draft, IMAGE))
    const database = join(dataDir, DATABASE)
    if (existsSync(database)) await copyDatabase(database, join(draft, DATABASE))
    for (const name of OTHERS)
      if (existsSync(join(dataDir, name))) await copyFile(join(dataDir, name), join(draft, name))
    await writeFile(join(draft, MANIFEST), `${JSON.stringify(manifest)}\n`)
    await tar('-czf', `${file}.new`, '-C', draft, ...(await readdir(draft)))
    await chmod(`${file}.new`, 0o600)
    await rename(`${file}.new`, file)
    return manifest
  })
}

/** Makes a data folder that holds what a backup holds. @throws UserError, also where the folder has data */
export async function restoreBackup(file: string, { dataDir, logger }: BackupOptions): Promise<BackupManifest> {
  if (!existsSync(file)) throw new UserError(`There is no file ${file}.`)
  const unlock = await lockDataDir(dataDir, logger)
  try {
    const there = (await readdir(dataDir)).filter((name) => !/\.lock(?:-|$)/.test(name))
    if (there.length > 0)
      throw new UserError(`${dataDir} has data (${there.join(', ')}): move it away, or choose another data_dir.`)
    return await inDraftFolder(dataDir, async (draft) => {
      await tar('-xzf', resolve(file), '-C', draft, '--no-same-owner')
      const manifest = await readManifest(draft, file)
      for (const name of [DATABASE, ...OTHERS])
        if (existsSync(join(draft, name))) await rename(join(draft, name), join(dataDir, name))
      // An append-only file may begin with an image: Redis 7 and later move it to where theirs are.
      await mkdir(join(draft, 'redis'), { mode: 0o700 })
      await rename(join(draft, IMAGE), join(draft, 'redis', 'appendonly.aof'))
      await rename(join(draft, 'redis'), join(dataDir, 'redis'))
      return manifest
    })
  } finally {
    unlock()
  }
}

/** Runs `work` with a temporary folder beside the data, which is as private as they are, and removes it afterwards. */
async function inDraftFolder<Result>(dataDir: string, work: (draft: string) => Promise<Result>): Promise<Result> {
  const draft = await mkdtemp(join(dataDir, 'backup-'))
  try {
    return await work(draft)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Works on the Redis that runs on a data folder; if none runs, on one that is started only for this. */
async function onPrivateRedis<Result>(
  options: BackupOptions,
  work: (redis: Redis) => Promise<Result>,
): Promise<Result> {
  const { dataDir, maxMemory, logger } = options
  const socket = await socketOf(resolve(dataDir, 'redis'))
  const { is } = await inspectEndpoint({ socket })
  if (is === 'ours') return connected(socketUrl(socket), work)
  const unlock = await lockDataDir(dataDir, logger)
  try {
    await fetchMissingRedis(dataDir, logger)
    const started = await startPrivateRedis(dataDir, maxMemory)
    try {
      return await connected(started.url, work)
    } finally {
      await started.stop()
    }
  } finally {
    unlock()
  }
}

async function connected<Result>(url: string, work: (redis: Redis) => Promise<Result>): Promise<Result> {
  const redis = openRedis(url, { lazyConnect: true, retryStrategy: null })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

/**
 * Makes Redis write an image of this moment to the file `dump.rdb`. A process of its own writes it, so Redis continues
 * to work.
 */
async function saveImage(redis: Redis, file: string): Promise<void> {
  await rm(file, { force: true })
  // While the append-only file is rewritten, it waits for that.
  await redis.bgsave('SCHEDULE')
  while (!existsSync(file)) {
    if (/^rdb_last_bgsave_status:err/m.test(await redis.info('persistence')))
      throw new UserError('Redis could not write its image: see redis.log in the data folder.')
    await delay(LOOK_MS)
  }
}

async function copyDatabase(from: string, to: string): Promise<void> {
  const database = new DatabaseSync(from, { readOnly: true })
  try {
    await backup(database, to)
  } finally {
    database.close()
  }
}

async function readManifest(folder: string, file: string): Promise<BackupManifest> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => undefined)
  if (text === undefined || !existsSync(join(folder, IMAGE))) throw new UserError(`${file} is no backup of waybridge.`)
  const manifest = JSON.parse(text) as BackupManifest
  const { data_format = 0 } = manifest
  if (data_format > FORMAT) throw new UserError(tooNew(`The data in ${file}`, data_format))
  if (manifest.format > BACKUP_FORMAT)
    throw new UserError(
      `${file} was made by waybridge ${manifest.version}: restore it with that version, or a later one.`,
    )
  return manifest
}

async function tar(...args: string[]): Promise<void> {
  try {
    await promisify(execFile)('tar', args)
  } catch (error) {
    const { code, stderr = '' } = error as NodeJS.ErrnoException & { stderr?: string }
    if (code === 'ENOENT') throw new UserError('The program tar is missing: install it.')
    throw new UserError(`tar: ${stderr.trim().split('\n')[0]}.`)
  }
}

const BACKUP_FORMAT = 1
const MANIFEST = 'manifest.json'
const IMAGE = 'redis.rdb'
const DATABASE = 'tracking.sqlite'
const OTHERS = ['admin-token', 'installation']
const LOOK_MS = 100
