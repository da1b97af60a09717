import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { request as httpRequest } from 'undici'
import type { Fix } from '../../../protocols/kit/index.ts'
import type { TrackingClient } from '../../tracking/client.ts'
import { bodyOf } from '../../tracking/exchange.ts'
import { type CourierPosition, CourierPositions } from '../../tracking/schemas.ts'
import type { SimulationOutcome, Trip } from '../simulation.ts'

/** What happened to the sent fixes, compared with the tracking service. */
export interface DeliveryAccount {
  readonly sent: number
  readonly acked: number
  /** Sent, and present at the service: at the same second, within 1e-6 degrees. */
  readonly delivered: number
  /** Acknowledged, and not at the service. */
  readonly lost: number
}

/** A trip, and where its positions belong. */
export interface Journey {
  readonly company: string
  readonly route: string
  /** Where they may be as well, or instead. */
  readonly otherRoute?: string
  readonly oauthToken: string
  readonly trip: Trip
}

/** Reads every route back and compares it, fix by fix. @throws Error if the service does not answer. */
export async function accountFor(client: TrackingClient, journeys: readonly Journey[]): Promise<DeliveryAccount> {
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

/** Reads in windows of two hours, the longest that the interface allows. */
async function positionsOf(client: TrackingClient, journey: Journey): Promise<readonly CourierPosition[]> {
  const { trip, route, otherRoute, company, oauthToken } = journey
  const positions: CourierPosition[] = []
  const [first, last] = [trip.sent[0], trip.sent.at(-1)].map((fix) => (fix ? fix.time / 1000 : Number.NaN))
  for (const read of otherRoute === undefined ? [route] : [route, otherRoute])
    for (let from = first; from <= last; from += WINDOW_S + 1) {
      const interval = { from, to: Math.min(last, from + WINDOW_S) }
      positions.push(...(await positionsIn(client, { company, route: read, oauthToken }, interval)))
    }
  return positions
}

/** Reads the positions of at most two hours. @throws Error if the service does not answer. */
export async function positionsIn(
  client: TrackingClient,
  { company, route, oauthToken }: Omit<Journey, 'trip' | 'otherRoute'>,
  interval: Readonly<Record<'from' | 'to', number>>,
): Promise<readonly CourierPosition[]> {
  const params = { company_id: company, route_id: route }
  const query = { from: String(interval.from), to: String(interval.to) }
  for (let attempt = 1; ; attempt++) {
    const answer = await client.request({ operation: 'courierPositions', params, query, oauthToken })
    const text = 'fault' in answer ? '' : bodyOf(answer).toString()
    if ('status' in answer && answer.status === 200) return CourierPositions.parse(JSON.parse(text))
    const reason = 'fault' in answer ? answer.fault : `${answer.status} ${text}`
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

/** How a demo ended. */
export interface Ending {
  readonly account: DeliveryAccount
  /** How many positions the service received again. */
  readonly duplicates: number
  readonly outcome?: SimulationOutcome
  /** The last answer of the admin port. */
  readonly status?: Status
}

/** The ending of a demo that was interrupted before the first fix. */
export const NOTHING: Ending = { account: { sent: 0, acked: 0, delivered: 0, lost: 0 }, duplicates: 0 }

/** Whether every fix that was sent was acknowledged and is at the service. */
export function isWhole({ account }: Ending): boolean {
  return account.lost === 0 && account.acked === account.sent
}

/** The result in sentences. */
export function resultLines(ending: Ending): string[] {
  const { account, outcome, status } = ending
  const { sent, acked, lost } = account
  if (isWhole(ending))
    return sent === 0 ? [] : [`All ${sent} fixes were acknowledged and read back, each in its time and place.`]
  const sentences: string[] = []
  if (acked < sent)
    sentences.push(`${sent - acked} fixes were not acknowledged: ${outcome?.trouble ?? 'the demo was stopped'}.`)
  if (lost > 0) {
    const where = status && `${status.waiting} waiting, ${status.parked} parked, ${status.filtered} filtered`
    sentences.push(
      `${lost} acknowledged fixes are not at the tracking service; the gateway has ${where ?? 'not answered'}.`,
    )
  }
  return sentences
}

/** Returns the last line, which programs parse. */
export function lastLine({ account: { sent, acked, delivered, lost }, duplicates }: Ending): string {
  return `sent=${sent} acked=${acked} delivered=${delivered} lost=${lost} duplicates=${duplicates}`
}

/** The account of received fixes in `GET /admin/status`. */
export interface Status {
  readonly waiting: number
  readonly parked: number
  readonly held: number
  readonly filtered: number
  readonly delivered: number
}

/** Asks the admin port of a data folder; resolves to undefined if it does not answer. */
export async function readCustody(port: number, dataDir: string): Promise<Status | undefined> {
  try {
    const token = (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim()
    const { statusCode, body } = await httpRequest(`http://127.0.0.1:${port}/admin/status`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const answer = (await body.json()) as { custody: Status }
    return statusCode === 200 ? answer.custody : undefined
  } catch {
    return undefined
  }
}

const TIMEOUT_MS = 2000

/** Positions in the database of a tracking service: how many, and how many times they were received in all. */
export function countPositions(databaseFile: string): { stored: number; received: number } {
  const database = new DatabaseSync(databaseFile, { readOnly: true })
  try {
    return database.prepare(COUNT).get() as { stored: number; received: number }
  } finally {
    database.close()
  }
}

const COUNT = 'SELECT count(*) AS stored, coalesce(sum(received_count), 0) AS received FROM positions'
