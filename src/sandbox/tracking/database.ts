import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { UserError } from '../../errors.ts'
import { ApiRefusal } from '../../http/refusal.ts'

/**
 * Opens the service's database and creates missing folders, file and tables. A commit returns when it is on disk. @throws
 * UserError if a newer program has written it
 */
export function openDatabase(file: string): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true })
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  refuseNewer(database, file)
  database.exec(TABLES)
  database.exec(`PRAGMA user_version = ${FORMAT}`)
  return database
}

function refuseNewer(database: DatabaseSync, file: string): void {
  const { user_version: format } = database.prepare('PRAGMA user_version').get() as { user_version: number }
  if (format <= FORMAT) return
  database.close()
  throw new UserError(
    `${file} is of a newer waybridge: its format is ${format}, this version knows formats up to ${FORMAT}. ` +
      'Run the newer version; to go back, restore a backup that was made before the upgrade.',
  )
}

/** Prepares statements, by name; they read integers as bigint. */
export function prepareAll<Name extends string>(
  database: DatabaseSync,
  sql: Readonly<Record<Name, string>>,
): Record<Name, StatementSync> {
  const prepared = Object.entries<string>(sql).map(([name, text]) => {
    const statement = database.prepare(text)
    statement.setReadBigInts(true)
    return [name, statement]
  })
  return Object.fromEntries(prepared) as Record<Name, StatementSync>
}

/** Does the work in one transaction, which is on disk when it returns, or not at all. */
export function transact<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

interface WaitingWrite {
  readonly rows: number
  /** Writes; the function that it returns settles the caller's promise, once the transaction is on disk. */
  readonly run: () => () => void
  readonly reject: (reason: unknown) => void
}

/**
 * Writes that arrive while a transaction commits share the next one, and its fsync. SQLite blocks the event loop during a
 * transaction, so a transaction takes at most `maxRows` rows (a single write may have more), and requests are read between
 * two of them.
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
   * Runs `work`, which writes about `rows` rows, in the next transaction. Resolves to its result once that is on disk.
   * Rejects if the transaction failed: then none of its writes is stored. `work` may throw an ApiRefusal before it has
   * written anything: then only this call rejects.
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

/**
 * The format of the tables. Raise it with every change that an older program would misread. Only one process at a time
 * has the file open.
 */
const FORMAT = 1

// A wait blocks the process. Only another program that writes to the file can cause one.
const BUSY_TIMEOUT_MS = 1_000

/*
 * `lanes` only grows, unless a provisioning is exhaustive: see README.md.
 *
 * `positions` is one clustered tree: its key recognises a repeated position, and is read in the order of company, route
 * and timestamp. `received_us`, unix microseconds, is the time of arrival and gives the order within a second. It grows
 * with every position, except after the clock was set back: then two positions may have the same.
 *
 * An item's id is never used again (AUTOINCREMENT): a repeated DELETE must not delete another item.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS positions (
    company_id INTEGER NOT NULL,
    route_id INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,
    courier_id INTEGER NOT NULL,
    lat REAL NOT NULL,
    lon REAL NOT NULL,
    accuracy INTEGER NOT NULL,
    heading INTEGER,
    speed REAL,
    received_us INTEGER NOT NULL,
    received_count INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (company_id, route_id, timestamp, courier_id, lat, lon)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS lanes (
    courier_id INTEGER NOT NULL,
    company_id INTEGER NOT NULL,
    route_id INTEGER NOT NULL,
    PRIMARY KEY (courier_id, company_id, route_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS numbers (
    company_id INTEGER NOT NULL,
    contractor_company_id INTEGER NOT NULL,
    number TEXT NOT NULL,
    name TEXT,
    PRIMARY KEY (company_id, contractor_company_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS orders (
    company_id INTEGER NOT NULL,
    order_id INTEGER NOT NULL,
    PRIMARY KEY (company_id, order_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS items (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    company_id INTEGER NOT NULL,
    order_id INTEGER NOT NULL,
    number TEXT NOT NULL,
    description TEXT NOT NULL,
    price TEXT NOT NULL,
    total_count INTEGER NOT NULL,
    undelivered_count INTEGER NOT NULL DEFAULT 0,
    code TEXT,
    comment TEXT,
    UNIQUE (company_id, order_id, number)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS items_in_order ON items (company_id, order_id, id)`
