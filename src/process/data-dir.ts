import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, chmod, constants, mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { keptText } from '../durable.ts'
import { databaseReason, UserError } from '../errors.ts'

/**
 * Creates a data folder, or removes other users' access to an existing one, because it contains positions of people. Logs
 * what this user may not change.
 */
export async function openDataDir(dataDir: string, logger: Logger): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const redis = join(dataDir, 'redis')
  const entries = [...(await entriesOf(dataDir, false)), ...(await entriesOf(redis, true))]
  for (const path of [dataDir, redis, ...entries]) await takeFromOthers(path, logger)
  // SQLite does not report that a folder is not writable.
  await access(dataDir, constants.W_OK)
}

/**
 * Resolves to the id of the installation that a data folder belongs to; `isNew`: this call created it. An unreadable id is
 * replaced, but does not make a new installation: its roster may be in Redis.
 */
export async function installationId(dataDir: string, logger: Logger): Promise<{ id: string; isNew: boolean }> {
  const file = join(dataDir, 'installation')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const { text, is } = await keptText(file, INSTALLATION_FILE).catch(() => {
    return { text: randomUUID(), is: 'kept' }
  })
  if (is === 'replaced') logger.warn(`${file} held no id, as after a loss of power: this installation has a new one`)
  return { id: text.trim(), isNew: is === 'made' }
}

/** Returns the files in a folder, with `recursive` also those below it and the folders; empty if the folder does not exist. */
async function entriesOf(folder: string, recursive: boolean): Promise<string[]> {
  const entries = await readdir(folder, { recursive, withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return entries
    .filter((entry) => entry.isFile() || (recursive && entry.isDirectory()))
    .map(({ parentPath, name }) => join(parentPath, name))
}

async function takeFromOthers(path: string, logger: Logger): Promise<void> {
  try {
    const { mode } = await stat(path)
    if ((mode & OTHERS) !== 0) await chmod(path, mode & 0o700)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') logger.warn({ reason: message }, `other users may be able to read ${path}`)
  }
}

/**
 * Locks a data folder and waits until the processes of an earlier run on it have ended; returns a function that unlocks it. A
 * UserError if another `start` has it, or if a restore into it did not end: `start` would begin without the restored data.
 * SQLite's file locks belong to the process: the kernel releases them however it ends, so there is no stale lock and no process
 * id that another program may have taken.
 */
export async function lockDataDir(dataDir: string, logger: Logger): Promise<() => void> {
  await openDataDir(dataDir, logger)
  const unlock = await lockStart(dataDir, logger, 'EXCLUSIVE')
  const entries = await readdir(dataDir, { withFileTypes: true })
  const hasDraft = entries.some((entry) => entry.isDirectory() && OF_DRAFT.test(entry.name))
  if (!hasDraft || existsSync(join(dataDir, 'redis'))) return unlock
  unlock()
  throw new UserError(`A restore into ${dataDir} did not end: empty that folder, and restore again.`)
}

/** Like `lockDataDir`, for reading only: changes nothing in the folder. Without a lock file, no process has ever run on it. */
export async function lockToRead(dataDir: string, logger: Logger): Promise<() => void> {
  return existsSync(join(dataDir, START_LOCK)) ? lockStart(dataDir, logger, 'READ') : () => {}
}

async function lockStart(dataDir: string, logger: Logger, kind: 'EXCLUSIVE' | 'READ'): Promise<() => void> {
  const release = takeAlone(dataDir, START_LOCK, { what: 'start', kind })
  const roles = join(dataDir, ROLES_LOCK)
  if (!isFree(roles)) logger.warn('waiting for the processes of an earlier run to end')
  for (const deadline = performance.now() + LEFTOVER_MS; !isFree(roles); await delay(50))
    if (performance.now() > deadline)
      throw new UserError(`Processes of an earlier run on ${dataDir} do not end: end them first.`)
  return release
}

/** Marks this process as one that `start` runs on the data folder, until the process ends. */
export function shareDataDir(dataDir: string): void {
  take(join(dataDir, ROLES_LOCK), 'SHARED')
}

/**
 * Locks the tracking service's database in a data folder until this process ends; a UserError if another service has it. It
 * is not the lock of `start`: a `start` that pushes to a separate service may use the same data folder.
 */
export function lockTracking(dataDir: string): void {
  takeAlone(dataDir, 'tracking.lock', { what: 'tracking service', kind: 'EXCLUSIVE' })
}

/** `kind`: what excludes the others, who take it exclusively. */
function takeAlone(dataDir: string, lock: string, { what, kind }: { what: string; kind: LockKind }): () => void {
  const release = take(join(dataDir, lock), kind)
  if (!release) throw new UserError(`Another ${what} is running on ${dataDir}: end it, or choose another data_dir.`)
  return release
}

function isFree(file: string): boolean {
  const release = take(file, 'EXCLUSIVE')
  release?.()
  return release !== undefined
}

/** Returns what releases the lock, or undefined if another process has it. */
function take(file: string, kind: LockKind): (() => void) | undefined {
  const lock = new DatabaseSync(file, { open: false, readOnly: kind === 'READ' })
  try {
    lock.open()
    lock.exec(STATEMENTS[kind])
  } catch (error) {
    if (lock.isOpen) lock.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined
    throw new UserError(`Cannot lock ${file}: ${databaseReason(error, 'delete it')}.`)
  }
  held.add(lock)
  return () => {
    held.delete(lock)
    lock.close()
  }
}

/** Begins the name of a folder for the content of a backup while it is made or restored. */
export const DRAFT = 'backup-'
/** As `mkdtemp` completes it. */
const OF_DRAFT = /^backup-\w{6}$/
const INSTALLATION_FILE = {
  isWhole: (kept: string) => /^[\da-f-]{36}$/.test(kept.trim()),
  make: () => `${randomUUID()}\n`,
}
/** Group and others. */
const OTHERS = 0o077
/** References to locks: a lock whose object is garbage-collected is released. */
const held = new Set<DatabaseSync>()
const START_LOCK = 'start.lock'
const ROLES_LOCK = 'roles.lock'
const SHARED = 'BEGIN; SELECT 1 FROM sqlite_schema'
/** READ takes a SHARED lock, and leaves the journal of a lock whose process was killed. */
const STATEMENTS = { EXCLUSIVE: 'BEGIN EXCLUSIVE', SHARED, READ: SHARED } as const
type LockKind = keyof typeof STATEMENTS
const LEFTOVER_MS = 15_000
const SQLITE_BUSY = 5
