import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'

/** Opens the service's database, creating file, folder and tables where they are missing. A commit is on disk. */
export function openDatabase(file: string): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true })
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec(TABLES)
  return database
}

/** Statements by name; the integers that they read are bigint. */
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

// Blocks the process; only somebody else's hand in the file can make it wait.
const BUSY_TIMEOUT_MS = 1_000

/*
 * Of `lanes` nothing is taken out, unless the provisioning says that there are no others: see README.md.
 *
 * Positions are one clustered tree: its key recognises a position that comes again, and is read in order of company, route and
 * timestamp. `received_us`, unix microseconds, is when it arrived, and the order within a second: it grows with every position
 * while the clock does; where that is set back, two may have the same.
 *
 * An item's id is never given again (AUTOINCREMENT): a DELETE that is repeated finds no other item.
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
