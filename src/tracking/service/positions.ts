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

/** How a page is read. */
export const SELECT_PAGE = `
  SELECT lat, lon, timestamp, received_us FROM positions
  WHERE company_id = $company AND route_id = $route AND timestamp BETWEEN $from AND $to
    AND (timestamp > $from OR received_us > $after)
  ORDER BY timestamp, received_us LIMIT ${PAGE_ROWS}`

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

  function page({ companyId, routeId, from, to }: PositionQuery, after?: StoredPosition): StoredPosition[] {
    return select.all({
      $company: BigInt(companyId),
      $route: BigInt(routeId),
      $from: after?.timestamp ?? from,
      $to: to,
      $after: after?.received_us ?? -1n,
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

/** The time, in unix microseconds, never the same twice. */
function microseconds(): () => number {
  let last = 0
  return () => (last = Math.max(last + 1, Date.now() * 1_000))
}

const INSERT = `
  INSERT INTO positions (company_id, route_id, timestamp, courier_id, lat, lon, accuracy, heading, speed, received_us)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET received_count = received_count + 1`

const COUNT = 'SELECT count(*) AS stored, coalesce(sum(received_count), 0) AS received FROM positions'
