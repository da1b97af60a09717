import type { DatabaseSync } from 'node:sqlite'
import { ApiRefusal } from '../refusal.ts'
import { transact } from './database.ts'

interface WaitingWrite {
  readonly rows: number
  /** Writes; the function that it returns settles the caller's promise, once the transaction is on disk. */
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
  #waiting: WaitingWrite[] = []

  constructor(database: DatabaseSync, maxRows: number) {
    this.#database = database
    this.#maxRows = maxRows
  }

  /**
   * Runs `work`, which writes about `rows` rows, in the next transaction. Resolves to its result once that is on disk. Rejects
   * where the transaction failed: then none of its writes is stored. `work` may throw an ApiRefusal before it has written
   * anything: then only this call rejects.
   */
  write<Result>(rows: number, work: () => Result): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    if (this.#waiting.length === 0) setImmediate(() => this.#next())
    const run = () => {
      try {
        const result = work()
        return () => resolve(result)
      } catch (error) {
        if (error instanceof ApiRefusal) return () => reject(error)
        throw error
      }
    }
    this.#waiting.push({ rows, run, reject })
    return promise
  }

  /** Does at once what still waits, although its callers may be gone. The database may be closed afterwards. */
  close(): void {
    while (this.#waiting.length > 0) this.#next()
  }

  #next(): void {
    if (this.#waiting.length === 0) return
    let rows = 0
    const rest = this.#waiting.findIndex((write, index) => (rows += write.rows) > this.#maxRows && index > 0)
    const group = this.#waiting.splice(0, rest === -1 ? this.#waiting.length : rest)
    if (this.#waiting.length > 0) setImmediate(() => this.#next())
    try {
      const settlers = transact(this.#database, () => group.map(({ run }) => run()))
      for (const settle of settlers) settle()
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }
}
