import type { DatabaseSync } from 'node:sqlite'
import { ApiRefusal } from '../refusal.ts'

/** Writes that share transactions. */
export interface GroupCommit {
  /**
   * Runs `work`, which writes about `rows` rows, in the next transaction; resolves to its result once that is on disk,
   * rejects where it failed: then nothing of the whole transaction is stored.
   */
  write<Result>(rows: number, work: () => Result): Promise<Result>
  /** The same for `work` that may throw a ApiRefusal: then it rejects with it, and nothing of this work alone is stored. */
  attempt<Result>(rows: number, work: () => Result): Promise<Result>
  /** Does at once what still waits: whoever asked for it may be gone. The database may be closed then. */
  close(): void
}

interface Write {
  readonly rows: number
  /** Writes; what it returns tells the caller, once that is on disk. */
  readonly run: () => () => void
  readonly reject: (reason: unknown) => void
}

/**
 * Collects what arrives while a transaction commits into the next one: one fsync for all of it. SQLite blocks the event
 * loop meanwhile, so a transaction takes at most `maxRows` rows (one write may be larger), and requests are read between two.
 */
export function createGroupCommit(database: DatabaseSync, maxRows: number): GroupCommit {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const savepoint = database.prepare('SAVEPOINT attempt')
  const release = database.prepare('RELEASE attempt')
  const undo = database.prepare('ROLLBACK TO attempt')
  let waiting: Write[] = []

  function write<Result>(rows: number, work: () => Result): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    if (waiting.length === 0) setImmediate(next)
    const run = () => {
      const result = work()
      return () => resolve(result)
    }
    waiting.push({ rows, run, reject })
    return promise
  }

  async function attempt<Result>(rows: number, work: () => Result): Promise<Result> {
    const result = await write(rows, () => undoRefused(work))
    if (result instanceof ApiRefusal) throw result
    return result
  }

  function undoRefused<Result>(work: () => Result): Result | ApiRefusal {
    savepoint.run()
    let result: Result | ApiRefusal
    try {
      result = work()
    } catch (error) {
      if (!(error instanceof ApiRefusal)) throw error
      undo.run()
      result = error
    }
    release.run()
    return result
  }

  function next(): void {
    if (waiting.length === 0) return
    const group = waiting.slice(0, groupLength(waiting, maxRows))
    waiting = waiting.slice(group.length)
    if (waiting.length > 0) setImmediate(next)
    try {
      for (const tell of transact(group)) tell()
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      for (const { reject } of group) reject(error)
    }
  }

  function transact(group: readonly Write[]): (() => void)[] {
    begin.run()
    const written = group.map(({ run }) => run())
    commit.run()
    return written
  }

  function close(): void {
    while (waiting.length > 0) next()
  }

  return { write, attempt, close }
}

function groupLength(waiting: readonly Write[], maxRows: number): number {
  let rows = waiting[0].rows
  let length = 1
  while (length < waiting.length && rows + waiting[length].rows <= maxRows) rows += waiting[length++].rows
  return length
}
