import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Opens the service's database, creating file, folder and tables where they are missing. A commit is on disk. */
export function openDatabase(file: string): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true })
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec(TABLES)
  return database
}

// Blocks the process; only somebody else's hand in the file can make it wait.
const BUSY_TIMEOUT_MS = 1_000

/*
 * Of `lanes` nothing is taken out, unless the provisioning says that there are no others: see README.md.
 *
 * Positions are one clustered tree: its key recognises a position that comes again, and is read in order of company, route and
 * timestamp. `received_us`, unix microseconds, grows with every position: it is the order of arrival as well.
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
  ) STRICT, WITHOUT ROWID`
