import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../../src/sandbox/tracking/database.ts'
import { ITEM_SQL } from '../../../src/sandbox/tracking/items.ts'
import { NUMBER_SQL } from '../../../src/sandbox/tracking/numbers.ts'
import { LaneStore } from '../../../src/sandbox/tracking/push.ts'
import { item, startCompany } from '../../support/tracking/company.ts'
import { temporaryFolder } from '../../support/tracking/service.ts'

const folder = temporaryFolder()

it('the service opens the database so that a commit returns when it is on disk', () => {
  const database = openDatabase(join(folder, 'full.sqlite'))
  const FULL = 2
  expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: FULL })
  expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
  database.close()
})

it('the service does not open a database of a newer version', () => {
  const file = join(folder, 'newer.sqlite')
  const database = openDatabase(file)
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 })
  database.exec('PRAGMA user_version = 2')
  database.close()
  expect(() => openDatabase(file)).toThrow(
    `${file} is of a newer waybridge: its format is 2, this version knows formats up to 1. Run the newer version`,
  )
})

it('the service keeps the lanes when provisioning fails, and accepts the next one', () => {
  const database = openDatabase(join(folder, 'lanes.sqlite'))
  const lanes = new LaneStore(database)
  const route = { route_id: '1001', courier_id: '42', company_id: '7' }
  lanes.provision({ routes: [route] })
  const beyond = { ...route, route_id: '9223372036854775808' }
  const other = { ...route, route_id: '1002' }
  expect(() => lanes.provision({ routes: [other, beyond], exhaustive: true })).toThrow()
  expect([lanes.has('7', '42', '1001'), lanes.has('7', '42', '1002')]).toEqual([true, false])
  lanes.provision({ routes: [other] })
  expect([lanes.has('7', '42', '1001'), lanes.has('7', '42', '1002')]).toEqual([true, true])
  database.close()
})

/** Tables of a service version with positions only. */
const POSITIONS_ALONE = `
  CREATE TABLE positions (
    company_id INTEGER NOT NULL, route_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, courier_id INTEGER NOT NULL,
    lat REAL NOT NULL, lon REAL NOT NULL, accuracy INTEGER NOT NULL, heading INTEGER, speed REAL,
    received_us INTEGER NOT NULL, received_count INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (company_id, route_id, timestamp, courier_id, lat, lon)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE lanes (
    courier_id INTEGER NOT NULL, company_id INTEGER NOT NULL, route_id INTEGER NOT NULL,
    PRIMARY KEY (courier_id, company_id, route_id)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO positions VALUES (7, 1001, 1700000000, 42, 55.75, 37.5, 5, NULL, NULL, 1700000001000000, 1);
  PRAGMA journal_mode = WAL`

it('the service opens the database of a version that had positions only', async () => {
  const databaseFile = join(folder, 'before.sqlite')
  const database = new DatabaseSync(databaseFile)
  database.exec(POSITIONS_ALONE)
  database.close()
  const { ask } = await startCompany(databaseFile)
  const positions = await ask('GET', '/api/v2/companies/7/routes/1001/courier-positions?from=1700000000')
  expect(positions.text).toBe('[{"lat":55.75,"lon":37.5,"timestamp":1700000000,"server_timestamp":1700000001}]')
  expect((await ask('POST', '/api/v1/companies/7/numbers/1', { number: '1' })).status).toBe(200)
  expect((await ask('POST', '/api/v1/companies/7/orders/1/items', [item('A')])).status).toBe(200)
})

describe('a statement', () => {
  const database = openDatabase(join(folder, 'plans.sqlite'))
  const plans = Object.entries({ ...prefixed('numbers', NUMBER_SQL), ...prefixed('items', ITEM_SQL) }).map(
    ([name, text]) => [name, planOf(text)] as const,
  )
  database.close()

  function planOf(text: string): unknown[] {
    const values = Array.from(text.matchAll(/\?/g), () => 1)
    return database
      .prepare(`EXPLAIN QUERY PLAN ${text}`)
      .all(...values)
      .map(({ detail }) => detail)
  }

  it.each(plans)('the statement %s searches by a key and sorts nothing', (_, plan) => {
    expect(plan.filter((step) => !/^SEARCH \w+ USING /.test(String(step)))).toEqual([])
  })

  it('lists are read in the order of a key', () => {
    expect(Object.fromEntries(plans)).toMatchObject({
      'numbers.list': ['SEARCH numbers USING PRIMARY KEY (company_id=?)'],
      'items.page': ['SEARCH items USING INDEX items_in_order (company_id=? AND order_id=? AND id>?)'],
      'items.deleteAll': [expect.stringMatching(/\(company_id=\? AND order_id=\?\)$/)],
    })
  })
})

function prefixed(table: string, sql: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(sql).map(([name, text]) => [`${table}.${name}`, text]))
}
