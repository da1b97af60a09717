import { DatabaseSync } from 'node:sqlite'
import type { Interval } from '../interval.ts'
import type { PositionV3 } from '../schemas.ts'
import type { GroupCommit } from './group-commit.ts'

/** Ids as exact decimal digits. */
export interface Push {
  readonly companyId: string
  readonly courierId: string
  readonly routeId: string
  readonly positions: readonly PositionV3[]
}

export interface StoredPosition {
  readonly lat: number
  readonly lon: number
  readonly timestamp: bigint
  readonly received_us: bigint
  readonly courier_id: bigint
}

export interface PositionQuery extends Interval {
  readonly companyId: string
  readonly routeId: string
}

/** What was pushed. */
export interface PositionStore {
  /** Resolves once all positions are on disk; one that is there already is counted, not stored again. */
  append(push: Push): Promise<void>
  /** The next `PAGE_ROWS` positions in order of timestamp, then of arrival; `after` is the last one of the page before. */
  page(query: PositionQuery, after?: StoredPosition): StoredPosition[]
}

/** Rows of a page, so that reading does not block other requests for long. */
export const PAGE_ROWS = 2_000

/** How a page is read. Of a route, a position is told by all of what it is ordered by. */
export const SELECT_PAGE = `
  SELECT lat, lon, timestamp, received_us, courier_id FROM positions
  WHERE company_id = $company AND route_id = $route AND timestamp BETWEEN $from AND $to
    AND (timestamp > $from OR (received_us, courier_id, lat, lon) > ($received, $courier, $lat, $lon))
  ORDER BY timestamp, received_us, courier_id, lat, lon LIMIT ${PAGE_ROWS}`

export function createPositionStore(database: DatabaseSync, commits: GroupCommit): PositionStore {
  const insert = database.prepare(INSERT)
  const select = database.prepare(SELECT_PAGE)
  select.setReadBigInts(true)
  const received = microseconds()

  function append({ companyId, courierId, routeId, positions }: Push): Promise<void> {
    const company = BigInt(companyId)
    const route = BigInt(routeId)
    const courier = BigInt(courierId)
    return commits.write(positions.length, () => {
      for (const { timestamp, point, accuracy, heading = null, speed = null } of positions)
        insert.run(company, route, timestamp, courier, point.lat, point.lon, accuracy, heading, speed, received())
    })
  }

  function page({ companyId, routeId, from, to }: PositionQuery, after = beforeAll(from)): StoredPosition[] {
    return select.all({
      $company: BigInt(companyId),
      $route: BigInt(routeId),
      $from: after.timestamp,
      $to: to,
      $received: after.received_us,
      $courier: after.courier_id,
      $lat: after.lat,
      $lon: after.lon,
    }) as unknown as StoredPosition[]
  }

  return { append, page }
}

/** Positions in the database of a service, running or not: how many, and how many times they were received in all. */
export function countPositions(databaseFile: string): { stored: number; received: number } {
  const database = new DatabaseSync(databaseFile, { readOnly: true })
  try {
    return database.prepare(COUNT).get() as { stored: number; received: number }
  } finally {
    database.close()
  }
}

function beforeAll(timestamp: bigint): StoredPosition {
  return { timestamp, received_us: -1n, courier_id: 0n, lat: 0, lon: 0 }
}

/** The time, in unix microseconds: each is after the one before, unless the clock was set back. */
function microseconds(): () => number {
  let last = 0
  return () => {
    const now = Date.now() * 1_000
    return (last = now < last - SET_BACK_US ? now : Math.max(last + 1, now))
  }
}

/** By less a clock is slewed, or ahead for what came in one millisecond. */
const SET_BACK_US = 1_000_000

const INSERT = `
  INSERT INTO positions (company_id, route_id, timestamp, courier_id, lat, lon, accuracy, heading, speed, received_us)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET received_count = received_count + 1`

const COUNT = 'SELECT count(*) AS stored, coalesce(sum(received_count), 0) AS received FROM positions'
