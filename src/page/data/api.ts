import type { AlertTestsJson, ApiTestsJson } from '../../admin/schemas/tests.ts'
import type { ArrivalJson } from '../../admin/schemas/arrivals.ts'
import type { AuditJson } from '../../admin/schemas/audit.ts'
import type { ChainJson } from '../../admin/schemas/chain.ts'
import type { DaysJson, HistoryJson } from '../../admin/schemas/days.ts'
import type { DevicesPutJson } from '../../admin/schemas/device-import.ts'
import type { DeviceFramesJson, DeviceJson, DeviceRowJson, WatchJson } from '../../admin/schemas/devices.ts'
import type { FindingJson } from '../../admin/schemas/findings.ts'
import type { KeptFrameJson } from '../../admin/schemas/kept-frames.ts'
import type { MappingJson, MappingPutJson, UnreadJson } from '../../admin/schemas/mappings.ts'
import type { DeletedJson, LaneJson, ParkedLaneJson, RetriedJson } from '../../admin/schemas/lanes.ts'
import type { PageJson } from '../../admin/schemas/parts.ts'
import type { AssignedJson, RosterPutJson, RosterResultsJson, RouteJson } from '../../admin/schemas/roster.ts'
import type { SetupJson } from '../../admin/schemas/setups.ts'
import type { SignedOutJson, SignInJson, TokenJson } from '../../admin/schemas/access.ts'
import type { StatusJson } from '../../admin/schemas/status.ts'
import type { TrialJson } from '../../admin/schemas/trial.ts'
import { type Call, call, pathTo, RequestError, stream } from './client.ts'

/** The operations of the admin port that the page uses. Each throws a RequestError unless the answer is 2xx. */
export const api = {
  status: () => call<StatusJson>('/admin/status', { signal: AbortSignal.timeout(STATUS_MS) }),
  token: () => call<TokenJson>('/admin/token'),
  signIn: () => call<SignInJson>('/admin/oidc', { signal: AbortSignal.timeout(STATUS_MS) }),
  signOut: () => call<SignedOutJson>('/admin/oidc/logout', { method: 'POST' }),
  findings: (query: Call['query'] = {}) => call<PageJson<FindingJson>>('/admin/findings', { query }),

  devices: (query: Call['query']) => call<PageJson<DeviceRowJson>>('/admin/devices', { query }),
  device: (id: string) => call<DeviceJson>(pathTo`/admin/devices/${id}`),
  putDevices: (query: Call['query'], body: Blob) =>
    call<DevicesPutJson>('/admin/devices', { method: 'PUT', query, body, type: body.type }),
  putDevice: (id: string, body: object) => call<DeviceJson>(pathTo`/admin/devices/${id}`, { method: 'PUT', body }),
  chain: (id: string) => call<ChainJson>(pathTo`/admin/devices/${id}/chain`),
  history: (id: string) => call<HistoryJson>(pathTo`/admin/devices/${id}/history`),
  frames: (id: string) => call<DeviceFramesJson>(pathTo`/admin/devices/${id}/frames`, { query: { max_results: 20 } }),
  watch: (id: string) => call<WatchJson>(pathTo`/admin/devices/${id}/watch`, { method: 'POST' }),
  assign: (id: string, body: object, query: Call['query'] = {}) =>
    call<AssignedJson>(pathTo`/admin/devices/${id}/assign`, { method: 'POST', body, query }),
  swap: (id: string, body: object, query: Call['query'] = {}) =>
    call<AssignedJson>(pathTo`/admin/devices/${id}/swap`, { method: 'POST', body, query }),
  unassign: (id: string, body: object, query: Call['query'] = {}) =>
    call<AssignedJson>(pathTo`/admin/devices/${id}/unassign`, { method: 'POST', body, query }),

  routes: (query: Call['query']) => call<PageJson<RouteJson>>('/admin/routes', { query }),
  putRoutes: (query: Call['query'], body: Blob) =>
    call<RosterPutJson>('/admin/routes', { method: 'PUT', query, body, type: body.type }),
  roster: () => call<RosterResultsJson>('/admin/roster'),
  undo: (query: Call['query']) => call<RosterPutJson>('/admin/roster/undo', { method: 'POST', query }),
  /** Redelivers fixes whose past routes a file or a pull has changed. */
  redeliver: (company: string) =>
    call<{ readonly fixes: number }>('/admin/roster/redeliver', { method: 'POST', query: { company_id: company } }),
  leaveDelivered: (company: string) =>
    call<{ readonly fixes: number }>('/admin/roster/redeliver', { method: 'DELETE', query: { company_id: company } }),

  days: (query: Call['query']) => call<DaysJson>('/admin/days', { query }),
  daysCsv: async (query: Call['query']) =>
    (await stream('/admin/days', { query, headers: { accept: 'text/csv' } })).blob(),

  trial: () => call<TrialJson>('/admin/trial'),
  setups: () => call<{ readonly results: readonly SetupJson[] }>('/admin/setups'),
  arrivals: (query: Call['query'] = {}) => call<PageJson<ArrivalJson>>('/admin/arrivals', { query }),
  misunderstood: (query: Call['query'] = {}) => call<PageJson<KeptFrameJson>>('/admin/misunderstood', { query }),
  mappings: () => call<{ readonly results: readonly MappingJson[] }>('/admin/mappings'),
  unreadJson: () => call<{ readonly results: readonly UnreadJson[] }>('/admin/mappings/unread'),
  putMapping: (name: string, body: object, query: Call['query']) =>
    call<MappingPutJson>(pathTo`/admin/mappings/${name}`, { method: 'PUT', body, query }),
  deleteMapping: (name: string) => call<DeletedJson>(pathTo`/admin/mappings/${name}`, { method: 'DELETE' }),
  lanes: (query: Call['query']) => call<PageJson<LaneJson>>('/admin/lanes', { query }),
  parked: (query: Call['query'] = {}) => call<PageJson<ParkedLaneJson>>('/admin/parked', { query }),
  retryParked: (query: Call['query']) => call<RetriedJson>('/admin/parked/retry', { method: 'POST', query }),
  deleteParked: (query: Call['query']) => call<DeletedJson>('/admin/parked', { method: 'DELETE', query }),
  testAlerts: () => call<AlertTestsJson>('/admin/alerts/test', { method: 'POST' }),
  testApis: () => call<ApiTestsJson>('/admin/apis/test', { method: 'POST' }),
  audit: (query: Call['query'] = {}) => call<PageJson<AuditJson>>('/admin/audit', { query }),

  /** Positions that the tracking API has of a route; times in unix seconds. */
  track: (company: string, route: string, query: Call['query']) =>
    call<readonly { lat: number; lon: number; timestamp: number }[]>(
      pathTo`/api/v2/companies/${company}/routes/${route}/courier-positions`,
      { query },
    ),
}

/** What a change does or would do; `message`: why it was refused because it takes routes from vans. */
export type Tried<Answer> = Answer & { readonly message?: string }

/** All items of a list, page by page, at most `most`. */
export async function allOf<Item>(
  ask: (query: Call['query']) => Promise<PageJson<Item>>,
  most: number,
): Promise<Item[]> {
  const items: Item[] = []
  let next: string | undefined
  do {
    const { results, next_page_token } = await ask({ max_results: Math.min(1000, most), page_token: next })
    items.push(...results)
    next = next_page_token
  } while (next !== undefined && items.length < most)
  return items
}

/** Resolves to the answer of a change, also of one that is refused because vans would lose their routes (409): that has `field`, too. */
export async function evenIfRefused<Answer extends object>(
  change: Promise<Answer>,
  field: keyof Answer,
): Promise<Tried<Answer>> {
  try {
    return await change
  } catch (error) {
    const answer = error instanceof RequestError && error.status === 409 ? (error.body as Tried<Answer>) : undefined
    if (answer?.[field] !== undefined) return answer
    throw error
  }
}

/** Resolves to the result of `ask`; undefined if the admin port does not have this operation, or not for this device. */
export async function unlessMissing<Answer>(ask: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask
  } catch (error) {
    if (error instanceof RequestError && (error.status === 404 || error.status === 403)) return undefined
    throw error
  }
}

/** Time-out of a status: a slower port counts as not answering. */
const STATUS_MS = 5000
