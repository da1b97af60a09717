import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { databaseReason, UserError } from '../errors.ts'

const START_LOCK = 'start.lock'
const ROLES_LOCK = 'roles.lock'
const TRACKING_LOCK = 'tracking.lock'
const STATEMENTS = { EXCLUSIVE: 'BEGIN EXCLUSIVE', SHARED: 'BEGIN; SELECT 1 FROM sqlite_schema' } as const
const LEFTOVER_MS = 15_000
const SQLITE_BUSY = 5

/** A lock that is collected is a lock that is lost. */
const held = new Set<DatabaseSync>()

/**
 * Takes a data folder, waits until the processes of an earlier run on it have ended, and answers with what releases it. A
 * UserError where another `start` has it. SQLite's file locks belong to the process: the kernel drops them however it
 * ends, so that there is neither a stale lock nor a process id to be mistaken about.
 */
export async function lockDataDir(dataDir: string, logger: Logger): Promise<() => void> {
  await mkdir(dataDir, { recursive: true })
  const release = takeAlone(dataDir, START_LOCK, 'start')
  await leftoversEnded(dataDir, logger)
  return release
}

/** Says for this process' life that a process of `start` is at work on the data folder. */
export function shareDataDir(dataDir: string): void {
  take(join(dataDir, ROLES_LOCK), 'SHARED')
}

/**
 * Takes the tracking service's database in a data folder for this process' life; a UserError where another service has it.
 * The lock is not that of `start`: one that pushes to a service beside it may have the same data folder.
 */
export function lockTracking(dataDir: string): void {
  takeAlone(dataDir, TRACKING_LOCK, 'tracking service')
}

function takeAlone(dataDir: string, lock: string, what: string): () => void {
  const release = take(join(dataDir, lock), 'EXCLUSIVE')
  if (!release) throw new UserError(`Another ${what} is running on ${dataDir}: end it, or choose another data_dir.`)
  return release
}

async function leftoversEnded(dataDir: string, logger: Logger): Promise<void> {
  const file = join(dataDir, ROLES_LOCK)
  if (isFree(file)) return
  logger.warn('waiting for the processes of an earlier run to end')
  const deadline = Date.now() + LEFTOVER_MS
  while (!isFree(file)) {
    if (Date.now() > deadline)
      throw new UserError(`Processes of an earlier run on ${dataDir} do not end: end them first.`)
    await delay(50)
  }
}

function isFree(file: string): boolean {
  const release = take(file, 'EXCLUSIVE')
  release?.()
  return release !== undefined
}

/** Answers with what releases it, or undefined where another process has it. */
function take(file: string, kind: keyof typeof STATEMENTS): (() => void) | undefined {
  const lock = new DatabaseSync(file, { open: false })
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
