import type { DatabaseSync } from 'node:sqlite'

/** Writes that share transactions. */
export interface GroupCommit {
  /**
   * Runs `work`, which writes about `rows` rows, in the next transaction; resolves once that is on disk, rejects where
   * it failed: then nothing of the whole transaction is stored.
   */
  write(rows: number, work: () => void): Promise<void>
}

interface Write {
  readonly rows: number
  readonly work: () => void
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/**
 * Collects what arrives while a transaction commits into the next one: one fsync for all of it. SQLite blocks the event
 * loop meanwhile, so a transaction takes at most `maxRows` rows (one write may be larger), and requests are read between two.
 */
export function createGroupCommit(database: DatabaseSync, maxRows: number): GroupCommit {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  let waiting: Write[] = []

  function write(rows: number, work: () => void): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    if (waiting.length === 0) setImmediate(next)
    waiting.push({ rows, work, resolve, reject })
    return promise
  }

  function next(): void {
    const group = waiting.slice(0, groupLength(waiting, maxRows))
    waiting = waiting.slice(group.length)
    if (waiting.length > 0) setImmediate(next)
    try {
      transact(group)
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      for (const { reject } of group) reject(error)
      return
    }
    for (const { resolve } of group) resolve()
  }

  function transact(group: readonly Write[]): void {
    begin.run()
    for (const { work } of group) work()
    commit.run()
  }

  return { write }
}

function groupLength(waiting: readonly Write[], maxRows: number): number {
  let rows = waiting[0].rows
  let length = 1
  while (length < waiting.length && rows + waiting[length].rows <= maxRows) rows += waiting[length++].rows
  return length
}
