import type { DatabaseSync } from 'node:sqlite'
import { ApiRefusal } from '../refusal.ts'

interface WaitingWrite {
  readonly rows: number
  /** Writes; the function that it returns resolves the caller's promise, once the transaction is on disk. */
  readonly run: () => () => void
  readonly reject: (reason: unknown) => void
}

/**
 * Writes that arrive while a transaction commits share the next one, and its fsync. SQLite blocks the event loop during a
 * transaction, so that it takes at most `maxRows` rows (a single write may have more); between two, requests are read.
 */
export class GroupCommit {
  readonly #database
  readonly #maxRows
  readonly #sql
  #waiting: WaitingWrite[] = []

  constructor(database: DatabaseSync, maxRows: number) {
    this.#database = database
    this.#maxRows = maxRows
    this.#sql = {
      begin: database.prepare('BEGIN IMMEDIATE'),
      commit: database.prepare('COMMIT'),
      savepoint: database.prepare('SAVEPOINT attempt'),
      release: database.prepare('RELEASE attempt'),
      undo: database.prepare('ROLLBACK TO attempt'),
    }
  }

  /**
   * Runs `work`, which writes about `rows` rows, in the next transaction. Resolves to its result once that is on disk. Rejects
   * where the transaction failed: then none of its writes is stored.
   */
  write<Result>(rows: number, work: () => Result): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    if (this.#waiting.length === 0) setImmediate(() => this.#next())
    const run = () => {
      const result = work()
      return () => resolve(result)
    }
    this.#waiting.push({ rows, run, reject })
    return promise
  }

  /** As `write`; where `work` throws an ApiRefusal, it rejects with that, and only what this `work` wrote is undone. */
  async attempt<Result>(rows: number, work: () => Result): Promise<Result> {
    const result = await this.write(rows, () => this.#undoRefused(work))
    if (result instanceof ApiRefusal) throw result
    return result
  }

  /** Does at once what still waits, although its callers may be gone. The database may be closed afterwards. */
  close(): void {
    while (this.#waiting.length > 0) this.#next()
  }

  #undoRefused<Result>(work: () => Result): Result | ApiRefusal {
    const { savepoint, undo, release } = this.#sql
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

  #next(): void {
    if (this.#waiting.length === 0) return
    const group = this.#waiting.splice(0, groupLength(this.#waiting, this.#maxRows))
    if (this.#waiting.length > 0) setImmediate(() => this.#next())
    try {
      for (const resolve of this.#transact(group)) resolve()
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      for (const { reject } of group) reject(error)
    }
  }

  #transact(group: readonly WaitingWrite[]): (() => void)[] {
    this.#sql.begin.run()
    const resolvers = group.map(({ run }) => run())
    this.#sql.commit.run()
    return resolvers
  }
}

function groupLength(waiting: readonly WaitingWrite[], maxRows: number): number {
  let rows = waiting[0].rows
  let length = 1
  while (length < waiting.length && rows + waiting[length].rows <= maxRows) rows += waiting[length++].rows
  return length
}
