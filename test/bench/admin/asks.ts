import { imeiOf as idOf } from '../e2e/codec8.ts'
import { LANES } from './fleet.ts'

/** A request; `path` with its query. A `string` alone is a GET. */
export interface Ask {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: string
  readonly type?: string
}

const COMPANY = '/api/v1/companies/7'
const DAY = 'from=2099-11-20&until=2099-11-21'
const RETURN = [{ item_id: 1, undelivered_count: 0 }]

/**
 * The requests of each operation of the admin port that reads, by its operationId; lists by each of their filters.
 */
export function reads(): Record<string, readonly string[]> {
  const device = `/admin/devices/${idOf(4711)}`
  const conditions = ['moving', 'standing', 'parked', 'silent', 'gps_old', 'no_route', 'held', 'never', 'unknown']
  return {
    getHealth: ['/healthz'],
    getReadiness: ['/readyz'],
    getMetrics: ['/metrics'],
    getStatus: ['/admin/status'],
    listFindings: ['/admin/findings', '/admin/findings?severity=error'],
    followEvents: ['/admin/events'],
    listLanes: ['', '?sort=oldest', '?max_results=1000'].map((query) => `/admin/lanes${query}`),
    listDevices: [
      '',
      ...conditions.map((condition) => `?condition=${condition}`),
      '?state=online',
      '?state=offline',
      '?mapping=no_route',
      '?q=van+99999',
      '?q=nobody',
      '?max_results=1000',
    ].map((query) => `/admin/devices${query}`),
    getDevice: [device],
    getDeviceChain: [`${device}/chain`],
    listDeviceFrames: [`${device}/frames`],
    getDeviceHistory: [`${device}/history`],
    listDays: ['/admin/days?route_id=4711'],
    listRoutes: ['', '?company_id=7&at=2026-11-20T08:00:00Z', `?${DAY}`].map((query) => `/admin/routes${query}`),
    listRosterResults: ['/admin/roster'],
    listParked: ['/admin/parked', '/admin/parked?max_results=1000', `/admin/parked?courier_id=${LANES}`],
    getEnrolment: ['/admin/enrolment'],
    listMisunderstood: ['/admin/misunderstood'],
    listArrivals: ['/admin/arrivals'],
    listAudit: ['/admin/audit', '/admin/audit?max_results=1000'],
    getToken: ['/admin/token'],
    getNumber: [`${COMPANY}/numbers/8`],
    listNumbers: [`${COMPANY}/numbers`],
    courierPositions: ['/api/v2/companies/7/routes/1/courier-positions?from=0'],
    listItems: [`${COMPANY}/orders/1/items`],
    getOpenApi: ['/openapi.json'],
  }
}

/** The requests of each operation that changes something; `n`: how many there were before, each changes something else. */
export function changes(n: number): Record<string, readonly Ask[]> {
  // These send nothing.
  const device = `/admin/devices/${idOf(10_000 + n)}`
  const lane = `courier_id=${LANES - n}&route_id=${LANES - n}`
  return {
    putDevice: [json('PUT', device, { company_id: 7, name: `Renamed ${n}`, courier_id: 42, route_id: 42 })],
    assignDevice: [json('POST', `${device}/assign`, { route_id: 77_000 + n })],
    unassignDevice: [json('POST', `${device}/unassign`, {})],
    putRoutes: [putLine(n), putLine(n + 1, '&dry_run=true')],
    watchDevice: [json('POST', `${device}/watch`)],
    releaseDevice: [json('POST', `${device}/release`)],
    forgetDevice: [json('DELETE', `${device}/data`)],
    deleteDevice: [json('DELETE', device)],
    retryParked: [json('POST', `/admin/parked/retry?${lane}`)],
    deleteParked: [json('DELETE', `/admin/parked?${lane}`)],
    openEnrolment: [json('POST', '/admin/enrolment?for=1m')],
    closeEnrolment: [json('DELETE', '/admin/enrolment')],
    deleteMisunderstood: [json('DELETE', `/admin/misunderstood?device=${idOf(n)}`)],
    putNumber: [json('POST', `${COMPANY}/numbers/8`, { number: '+49' })],
    deleteNumber: [json('DELETE', `${COMPANY}/numbers/8`)],
    addItems: [
      json('POST', `${COMPANY}/orders/1/items`, [{ number: '1', description: '', price: '1', total_count: 1 }]),
    ],
    deleteItems: [json('DELETE', `${COMPANY}/orders/1/items`)],
    deleteItem: [json('DELETE', `${COMPANY}/orders/1/items/1`)],
    returnItems: [json('POST', '/companies/7/orders/1:return', RETURN)],
    returnItemsV1: [json('POST', `${COMPANY}/orders/1:return`, RETURN)],
  }
}

function putLine(n: number, query = ''): Ask {
  const path = `/admin/routes?company_id=7&${DAY}&only_listed=true${query}`
  const line = `${idOf(n)},,${n + 1},2099-11-20 06:00,2099-11-20 18:00`
  return { method: 'PUT', path, body: `device,courier_id,route_id,from,until\n${line}\n`, type: 'text/csv' }
}

/** Takes the put of an answer back. */
export function undo(answer: string): Ask {
  return json('POST', `/admin/roster/undo?put=${(JSON.parse(answer) as { put: string }).put}`)
}

function json(method: Ask['method'], path: string, body?: unknown): Ask {
  return { method, path, ...(body !== undefined && { body: JSON.stringify(body), type: 'application/json' }) }
}
