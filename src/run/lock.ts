import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { UserError } from './errors.ts'

const LEFTOVER_MS = 15_000
const SQLITE_BUSY = 5

/** A lock that is collected is a lock that is lost. */
const held = new Set<DatabaseSync>()

/**
 * Takes a data folder, waits until the processes of an earlier run on it have ended, and answers with what releases it. A
 * UserError where another `start` has it. SQLite's file locks belong to the process: the kernel drops them however it ends, so that
 * there is neither a stale lock nor a process id to be mistaken about.
 */
export async function lockDataDir(dataDir: string, logger: Logger): Promise<() => void> {
  await mkdir(dataDir, { recursive: true })
  const release = take(supervisorLock(dataDir), 'EXCLUSIVE')
  if (!release) throw new UserError(`Another start is running on ${dataDir}: end it, or choose another data_dir.`)
  const deadline = Date.now() + LEFTOVER_MS
  for (let waited = 0; !isFree(roleLock(dataDir)); waited++) {
    if (waited === 0) logger.warn('waiting for the processes of an earlier run to end')
    if (Date.now() > deadline)
      throw new UserError(`Processes of an earlier run on ${dataDir} do not end: end them first.`)
    await delay(50)
  }
  return release
}

/** Says for this process' life that a process of `start` is at work on the data folder. */
export function shareDataDir(dataDir: string): void {
  take(roleLock(dataDir), 'SHARED')
}

function supervisorLock(dataDir: string): string {
  return join(dataDir, 'start.lock')
}

function roleLock(dataDir: string): string {
  return join(dataDir, 'roles.lock')
}

/** Answers with what releases it, or undefined where another process has it. */
function take(file: string, kind: 'SHARED' | 'EXCLUSIVE'): (() => void) | undefined {
  const lock = new DatabaseSync(file)
  try {
    lock.exec(kind === 'EXCLUSIVE' ? 'BEGIN EXCLUSIVE' : 'BEGIN; SELECT 1 FROM sqlite_schema')
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined
    throw error
  }
  held.add(lock)
  return () => {
    held.delete(lock)
    lock.close()
  }
}

function isFree(file: string): boolean {
  const release = take(file, 'EXCLUSIVE')
  release?.()
  return release !== undefined
}
