import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { ApiRefusal } from '../../http/refusal.ts'
import type { ServedOperation } from '../../tracking/operations.ts'
import { type PositionInterval, parseId, parseInterval } from '../../tracking/parameters.ts'
import type { PositionV3 } from '../../tracking/schemas.ts'
import type { GroupCommit } from './database.ts'

interface PositionRow {
  readonly lat: number
  readonly lon: number
  readonly timestamp: bigint
  readonly received_us: bigint
  readonly courier_id: bigint
}

interface PositionQuery extends PositionInterval {
  readonly company: bigint
  readonly route: bigint
}

export class PositionStore {
  readonly #insert
  readonly #select
  readonly #commits
  #lastReceivedUs = 0

  constructor(database: DatabaseSync, commits: GroupCommit) {
    this.#insert = database.prepare(INSERT)
    this.#select = database.prepare(SELECT_PAGE)
    this.#select.setReadBigInts(true)
    this.#commits = commits
  }

  /**
   * Resolves once all positions of a company, route and courier are on disk. A position that is stored already is
   * counted, not stored again.
   */
  append(lane: readonly string[], positions: readonly PositionV3[]): Promise<void> {
    const [company, route, courier] = lane.map(BigInt)
    return this.#commits.write(positions.length, () => {
      for (const { timestamp, point, accuracy, heading = null, speed = null } of positions) {
        const { lat, lon } = point
        this.#insert.run(company, route, timestamp, courier, lat, lon, accuracy, heading, speed, this.#receivedUs())
      }
    })
  }

  /** The next `PAGE_ROWS` positions by timestamp, then by arrival; `after`: the last one of the page before. */
  page({ company, route, from, to }: PositionQuery, after = beforeAll(from)): PositionRow[] {
    return this.#select.all({ company, route, to, ...after }) as unknown as PositionRow[]
  }

  /** The time in unix microseconds, each later than the one before unless the clock was set back. */
  #receivedUs(): number {
    const now = Date.now() * 1_000
    const last = this.#lastReceivedUs
    return (this.#lastReceivedUs = now < last - SET_BACK_US ? now : Math.max(last + 1, now))
  }
}

/**
 * §4.4. The interface lists no 404: a route that the company does not have has no positions. The positions of a route
 * that was given to another courier, or removed, can still be read.
 */
export function courierPositions(positions: PositionStore, timeLimitMs: number): ServedOperation {
  return async ({ params, query }, reply) => {
    const company = BigInt(params.company_id)
    const route = BigInt(parseId(params.route_id, 'route_id'))
    const interval = parseInterval(query, Math.floor(Date.now() / 1_000))
    const deadline = performance.now() + timeLimitMs
    const json = await readJsonArray(positions, { company, route, ...interval }, deadline)
    return reply.type('application/json; charset=utf-8').send(json)
  }
}

/** Serves other requests between two pages. */
async function readJsonArray(positions: PositionStore, query: PositionQuery, deadline: number): Promise<string> {
  let json = ''
  for (let last: PositionRow | undefined; ; await setImmediate()) {
    const page = positions.page(query, last)
    if (page.length > 0) json += (json && ',') + page.map(positionJson).join()
    if (performance.now() > deadline) throw new ApiRefusal(504, 'reading took too long: ask for less')
    if (json.length > MAX_LENGTH) throw new ApiRefusal(504, 'there is too much to read at once: ask for less')
    if (page.length < PAGE_ROWS) return `[${json}]`
    last = page.at(-1)
  }
}

/** JSON.stringify takes no bigint; a number is written in JSON as in a template. */
function positionJson({ lat, lon, timestamp, received_us }: PositionRow): string {
  return `{"lat":${lat},"lon":${lon},"timestamp":${timestamp},"server_timestamp":${received_us / 1_000_000n}}`
}

function beforeAll(timestamp: bigint): PositionRow {
  return { timestamp, received_us: -1n, courier_id: 0n, lat: 0, lon: 0 }
}

/** A page blocks the event loop for a few milliseconds. */
const PAGE_ROWS = 2_000

/** The ORDER BY distinguishes any two positions of a route. */
export const SELECT_PAGE = `
  SELECT lat, lon, timestamp, received_us, courier_id FROM positions
  WHERE company_id = $company AND route_id = $route AND timestamp BETWEEN $timestamp AND $to
    AND (timestamp > $timestamp OR (received_us, courier_id, lat, lon) > ($received_us, $courier_id, $lat, $lon))
  ORDER BY timestamp, received_us, courier_id, lat, lon LIMIT ${PAGE_ROWS}`

const INSERT = `
  INSERT INTO positions (company_id, route_id, timestamp, courier_id, lat, lon, accuracy, heading, speed, received_us)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET received_count = received_count + 1`

/** A smaller difference is a slewed clock, or many positions within one millisecond. */
const SET_BACK_US = 1_000_000

// As much as the relay takes of an answer: at least half a million positions. A tracker with a fix a second has 7,200
// in two hours.
const MAX_LENGTH = 64 * 1024 * 1024
