import { countPositions } from '../../../src/sandbox/demo/account.ts'
import { type HttpAnswer, startService } from './service.ts'

/** The lane of a push; `apikey` null: none is sent. */
export interface Lane {
  readonly courier?: string
  readonly route?: string
  readonly apikey?: string | null
}

export const LANE: Lane = { courier: '42', route: '1001', apikey: 'key-7' }
export const JSON_TYPE = { 'content-type': 'application/json' }

let second = 1_700_000_000

/** A second that no other call of this process returns. */
export function nextSecond(): number {
  return second++
}

export function path({ courier = '42', route = '1001', apikey = 'key-7' }: Lane = {}): string {
  const query = apikey === null ? '' : `?apikey=${encodeURIComponent(apikey)}`
  return `/api/v1/couriers/${courier}/routes/${route}/push-positions-v3${query}`
}

/** A valid position at a unique second. */
export function position(changes: object = {}): object {
  return { accuracy: 5, point: { lat: 55.75, lon: 37.62 }, timestamp: nextSecond(), ...changes }
}

/** A service and functions that push to it. */
export async function startPushService() {
  const service = await startService()
  const push = (body: unknown, lane: Lane = LANE): Promise<HttpAnswer> => {
    const raw = typeof body === 'string' || Buffer.isBuffer(body)
    return service.send(path(lane), { method: 'POST', headers: JSON_TYPE, body: raw ? body : JSON.stringify(body) })
  }
  return { service, push, stored: () => countPositions(service.databaseFile).stored }
}
