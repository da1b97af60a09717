import { type Call, call, pathTo, RequestError } from './client.ts'
import type {
  ApiTests,
  ArrivalRow,
  AssignmentChange,
  AssignmentRow,
  AuditRow,
  DaysOfVan,
  FoundFault,
  Page,
  ParkedOfLane,
  PutResult,
  QueuedLane,
  SystemStatus,
  VanChain,
  VanDetail,
  VanRow,
  DeviceFrames,
  WriterResult,
} from './types.ts'

/** The operations of the admin port that the page uses. Each throws a RequestError where the answer is no 2xx. */
export const api = {
  status: () => call<SystemStatus>('/admin/status', { signal: AbortSignal.timeout(STATUS_MS) }),
  findings: (query: Call['query'] = {}) => call<Page<FoundFault>>('/admin/findings', { query }),

  devices: (query: Call['query']) => call<Page<VanRow>>('/admin/devices', { query }),
  device: (id: string) => call<VanDetail>(pathTo`/admin/devices/${id}`),
  putDevice: (id: string, body: object) => call<VanDetail>(pathTo`/admin/devices/${id}`, { method: 'PUT', body }),
  chain: (id: string) => call<VanChain>(pathTo`/admin/devices/${id}/chain`),
  history: (id: string) => call<DaysOfVan>(pathTo`/admin/devices/${id}/history`),
  frames: (id: string) => call<DeviceFrames>(pathTo`/admin/devices/${id}/frames`, { query: { max_results: 20 } }),
  watch: (id: string) => call<{ until_at: string }>(pathTo`/admin/devices/${id}/watch`, { method: 'POST' }),
  assign: (id: string, body: object, query: Call['query'] = {}) =>
    call<AssignmentChange>(pathTo`/admin/devices/${id}/assign`, { method: 'POST', body, query }),
  unassign: (id: string, body: object, query: Call['query'] = {}) =>
    call<AssignmentChange>(pathTo`/admin/devices/${id}/unassign`, { method: 'POST', body, query }),

  routes: (query: Call['query']) => call<Page<AssignmentRow>>('/admin/routes', { query }),
  putRoutes: (query: Call['query'], body: Blob) =>
    call<PutResult>('/admin/routes', { method: 'PUT', query, body, type: body.type }),
  roster: () => call<Page<WriterResult>>('/admin/roster'),
  undo: (query: Call['query']) => call<PutResult>('/admin/roster/undo', { method: 'POST', query }),

  arrivals: (query: Call['query'] = {}) => call<Page<ArrivalRow>>('/admin/arrivals', { query }),
  lanes: (query: Call['query']) => call<Page<QueuedLane>>('/admin/lanes', { query }),
  parked: (query: Call['query'] = {}) => call<Page<ParkedOfLane>>('/admin/parked', { query }),
  retryParked: (query: Call['query']) => call<{ retried: number }>('/admin/parked/retry', { method: 'POST', query }),
  deleteParked: (query: Call['query']) => call<{ deleted: number }>('/admin/parked', { method: 'DELETE', query }),
  testApis: () => call<ApiTests>('/admin/apis/test', { method: 'POST' }),
  audit: (query: Call['query'] = {}) => call<Page<AuditRow>>('/admin/audit', { query }),

  /** Positions that the tracking API has of a route; times in unix seconds. */
  track: (company: string, route: string, query: Call['query']) =>
    call<readonly { lat: number; lon: number; timestamp: number }[]>(
      pathTo`/api/v2/companies/${company}/routes/${route}/courier-positions`,
      { query },
    ),
}

/** All items of a list, page by page, at most `most`. */
export async function allOf<Item>(ask: (query: Call['query']) => Promise<Page<Item>>, most: number): Promise<Item[]> {
  const items: Item[] = []
  let next: string | undefined
  do {
    const { results, next_page_token } = await ask({ max_results: Math.min(1000, most), page_token: next })
    items.push(...results)
    next = next_page_token
  } while (next !== undefined && items.length < most)
  return items
}

/** What `ask` answers; undefined where the admin port does not have this operation, or not for this device. */
export async function unlessMissing<Answer>(ask: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask
  } catch (error) {
    if (error instanceof RequestError && (error.status === 404 || error.status === 403)) return undefined
    throw error
  }
}

/** A port that takes longer does not answer, as far as the page is concerned. */
const STATUS_MS = 5000
