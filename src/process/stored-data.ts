import { constants, existsSync } from 'node:fs'
import { copyFile, cp, mkdir, mkdtemp, realpath, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { moveDurably } from '../durable.ts'
import { UserError } from '../errors.ts'
import { openRedis, type Redis, shardKeys } from '../store/index.ts'
import { lockToRead } from './data-dir.ts'
import { fetchedInto, fetchMissingRedis, type PrivateRedis, startPrivateRedis } from './redis.ts'
import { inspectEndpoint, socketOf, socketUrl } from './redis-endpoint.ts'

export interface DataFolder {
  readonly dataDir: string
  /** The memory of the private Redis, in bytes; null: half of that of the machine. */
  readonly maxMemory: number | null
  readonly logger: Logger
}

/**
 * Calls `work` with the data and their Redis: with the data folder itself while `start` runs on it, else with a copy, since a
 * Redis that starts changes its files.
 */
export async function onStoredData<Result>(
  { dataDir, maxMemory, logger }: DataFolder,
  copy: string,
  work: (data: string, redis: Redis) => Promise<Result>,
): Promise<Result> {
  const socket = await socketOf(await realpath(join(dataDir, 'redis')))
  const { is } = await inspectEndpoint(socket)
  if (is === 'ours') return connected(socketUrl(socket), (redis) => work(dataDir, redis))
  const unlock = await lockToRead(dataDir, logger)
  try {
    await copyData(dataDir, copy)
  } finally {
    unlock()
  }
  await fetchMissingRedis(copy, logger)
  return onPrivateRedis(await startPrivateRedis(copy, maxMemory), (redis) => work(copy, redis))
}

/** Calls `work` with a connection to a private Redis, and stops it. */
async function onPrivateRedis<Result>({ url, stop }: PrivateRedis, work: (redis: Redis) => Promise<Result>) {
  try {
    return await connected(url, work)
  } finally {
    await stop()
  }
}

/**
 * Creates the folder `redis` of a data folder from an image that may come from anybody. Redis loads it only as an image: as
 * an append-only file, commands in it would run. @throws UserError
 */
export async function loadImage(image: string, { dataDir, maxMemory, logger }: DataFolder): Promise<void> {
  const draft = await mkdtemp(join(dataDir, 'image-'))
  const [redis, made] = [join(draft, 'redis'), join(draft, 'made')]
  await mkdir(redis, { mode: 0o700 })
  await rename(image, join(redis, 'dump.rdb'))
  await fetchMissingRedis(draft, logger)
  await onPrivateRedis(await startPrivateRedis(draft, maxMemory, { isImage: true }), writeAppendOnlyFile)
  await mkdir(made, { mode: 0o700 })
  for (const name of APPEND_ONLY_FILES)
    if (existsSync(join(redis, name))) await moveDurably(join(redis, name), join(made, name))
  await moveDurably(made, join(dataDir, 'redis'))
}

/** Resolves once a Redis without an append-only file has one. @throws UserError if the image holds programs, too */
async function writeAppendOnlyFile(redis: Redis): Promise<void> {
  // Of Redis 7 and later.
  if (/^number_of_libraries:[1-9]/m.test(await redis.info())) throw new UserError('The image of Redis holds functions.')
  await redis.config('SET', 'appendonly', 'yes')
  let info: string
  do {
    await delay(LOOK_MS)
    info = await redis.info('persistence')
  } while (/^aof_rewrite_(?:in_progress|scheduled):1/m.test(info))
  if (!/^aof_last_bgrewrite_status:ok/m.test(info)) throw new UserError('Redis could not write its append-only file.')
}

/** Copies the stored data of Redis and the tracking service. A downloaded Redis server is not copied, but used in place. */
async function copyData(dataDir: string, copy: string): Promise<void> {
  await mkdir(join(copy, 'redis'), { recursive: true })
  for (const name of STORED)
    if (existsSync(join(dataDir, name)))
      await cp(join(dataDir, name), join(copy, name), { recursive: true, mode: constants.COPYFILE_FICLONE })
  await linkFetched(dataDir, copy)
}

async function linkFetched(dataDir: string, folder: string): Promise<void> {
  const server = fetchedInto(dataDir)
  if (existsSync(server)) await symlink(server, fetchedInto(folder))
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
 * Makes Redis write an image of this moment to its file `dump.rdb`, and moves it to `file`. A separate process writes it, so
 * Redis continues to work. @throws UserError
 */
export async function saveImage(redis: Redis, dump: string, file: string): Promise<void> {
  for (;;) {
    const isBegun = await redis.bgsave().then(() => true, ifBusy)
    let info: string
    do {
      await delay(LOOK_MS)
      info = await redis.info('persistence')
    } while (/^(?:rdb_bgsave|aof_rewrite)_in_progress:1/m.test(info))
    if (!isBegun) continue
    // Until an image is complete, the status is that of the one before.
    if (/^rdb_last_bgsave_status:err/m.test(info))
      throw new UserError('Redis could not write its image: see redis.log in the data folder.')
    // Another backup at the same time may have moved it.
    if (await ifThere(rename(dump, file))) return
  }
}

/** Redis writes one image at a time, and none while it rewrites the append-only file. */
function ifBusy(error: Error): false {
  if (/already in progress|child process is active/i.test(error.message)) return false
  throw error
}

async function ifThere(moving: Promise<void>): Promise<boolean> {
  try {
    await moving
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/**
 * Removes the kept delivered fixes (`keep`) from an image: a temporary Redis loads it in the empty folder `folder`, deletes
 * them and writes the image again. @throws UserError
 */
export async function leaveOutKept(image: string, folder: string, { dataDir, maxMemory }: DataFolder): Promise<void> {
  const loaded = join(folder, 'redis', 'dump.rdb')
  await mkdir(join(folder, 'redis'), { recursive: true, mode: 0o700 })
  await rename(image, loaded)
  await linkFetched(dataDir, folder)
  await onPrivateRedis(await startPrivateRedis(folder, maxMemory, { isImage: true }), async (redis) => {
    for (const pattern of [`${KEPT.keptPrefix}*`, KEPT.keptHours]) await deleteMatching(redis, pattern)
    await saveImage(redis, loaded, image)
  })
}

async function deleteMatching(redis: Redis, pattern: string): Promise<void> {
  let cursor = '0'
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', KEYS_AT_ONCE)
    if (keys.length > 0) await redis.unlink(keys)
    cursor = next
  } while (cursor !== '0')
}

/** Copies a database, if there is one. Without a log file beside it, no process has it open, and opening it would create one. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return
  if (!existsSync(`${from}-wal`)) return copyFile(from, to)
  const database = new DatabaseSync(from, { readOnly: true })
  try {
    await backup(database, to)
  } finally {
    database.close()
  }
}

/** The database of the embedded tracking service. */
export const DATABASE = 'tracking.sqlite'
/** Redis 7 has a folder, 6.2 a file. */
const APPEND_ONLY_FILES = ['appendonlydir', 'appendonly.aof']
const STORED = [...APPEND_ONLY_FILES.map((name) => `redis/${name}`), DATABASE, `${DATABASE}-wal`]
const LOOK_MS = 100
const KEYS_AT_ONCE = 1000
/** The keys of every shard, as patterns. */
const KEPT = shardKeys('{wb*}')
