import { setTimeout as pause } from 'node:timers/promises'
import type { Fix } from '../../../protocols/kit/index.ts'
import type { PositionsRequest, TrackingClient } from '../../tracking/client.ts'
import type { CourierPosition } from '../../tracking/schemas.ts'
import type { Trip } from '../simulation.ts'

/** What became of the fixes that were sent, by what the tracking service says. */
export interface Account {
  readonly sent: number
  readonly acked: number
  /** Sent, and there: at the same second, within 1e-6 degrees. */
  readonly delivered: number
  /** Acknowledged, and not there. */
  readonly lost: number
}

/** Whose trip is to be looked for where. */
export interface Journey {
  readonly company: string
  readonly route: string
  readonly oauthToken: string
  readonly trip: Trip
}

/** Reads every route back and compares it, fix by fix. @throws Error where the service does not answer. */
export async function accountFor(client: TrackingClient, journeys: readonly Journey[]): Promise<Account> {
  const account = { sent: 0, acked: 0, delivered: 0, lost: 0 }
  const queue = journeys.values()
  async function work(): Promise<void> {
    for (const journey of queue) {
      const { sent, acked } = journey.trip
      const there = Map.groupBy(await positionsOf(client, journey), ({ timestamp }) => timestamp * 1000)
      const arrived = sent.map((fix) => there.get(fix.time)?.some((position) => isAt(fix, position)) ?? false)
      account.sent += sent.length
      account.acked += acked
      account.delivered += arrived.filter(Boolean).length
      account.lost += arrived.slice(0, acked).filter((isThere) => !isThere).length
    }
  }
  await Promise.all(Array.from({ length: READERS }, work))
  return account
}

/** In windows of two hours, the longest that the interface allows. */
async function positionsOf(client: TrackingClient, { trip, ...route }: Journey): Promise<readonly CourierPosition[]> {
  const positions: CourierPosition[] = []
  const [first, last] = [trip.sent[0], trip.sent.at(-1)].map((fix) => (fix ? fix.time / 1000 : Number.NaN))
  for (let from = first; from <= last; from += WINDOW_S + 1)
    positions.push(...(await positionsIn(client, { ...route, from, to: Math.min(last, from + WINDOW_S) })))
  return positions
}

async function positionsIn(client: TrackingClient, request: PositionsRequest): Promise<readonly CourierPosition[]> {
  for (let attempt = 1; ; attempt++) {
    const answer = await client.positions(request)
    if ('positions' in answer) return answer.positions
    const reason = 'fault' in answer ? answer.fault : `${answer.status} ${answer.text}`
    if (attempt === ATTEMPTS) throw new Error(`The tracking service cannot be read: ${reason}.`)
    await pause(200 * attempt)
  }
}

function isAt({ latitude, longitude }: Fix, { lat, lon }: CourierPosition): boolean {
  return Math.abs(lat - latitude) <= EPSILON && Math.abs(lon - longitude) <= EPSILON
}

const WINDOW_S = 7200
const EPSILON = 1e-6
const READERS = 8
const ATTEMPTS = 3
