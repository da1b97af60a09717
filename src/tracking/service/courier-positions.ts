import { setImmediate } from 'node:timers/promises'
import { parseInterval } from '../interval.ts'
import { ApiRefusal, parseId } from '../refusal.ts'
import { authorizeCompany } from './authorization.ts'
import type { ServiceContext } from './context.ts'
import type { ServedOperation } from './operation.ts'
import { PAGE_ROWS, type PositionQuery, type StoredPosition } from './positions.ts'

/**
 * §4.4. The interface lists no 404 here: a route that the company does not have has no positions. What was pushed to a
 * route that has since been given to another courier, or removed, can still be read.
 */
export const courierPositions: ServedOperation = {
  admit: authorizeCompany,
  answer: async (context, { params, query }, reply) => {
    const routeId = parseId(params.route_id, 'route_id')
    const interval = parseInterval(query, Math.floor(Date.now() / 1_000))
    const json = await readJsonArray(context, { companyId: params.company_id, routeId, ...interval })
    return reply.type('application/json; charset=utf-8').send(json)
  },
}

/** Other requests are served between two pages. */
async function readJsonArray(context: ServiceContext, query: PositionQuery): Promise<string> {
  const deadline = performance.now() + context.timeLimitMs
  const pages: string[] = []
  let length = 0
  for (let last: StoredPosition | undefined; ; await setImmediate()) {
    const page = context.positions.page(query, last)
    if (page.length > 0) pages.push(page.map(itemJson).join())
    length += pages.at(-1)?.length ?? 0
    if (performance.now() > deadline) throw new ApiRefusal(504, 'reading took too long: ask for less')
    if (length > MAX_LENGTH) throw new ApiRefusal(504, 'there is too much to read at once: ask for less')
    if (page.length < PAGE_ROWS) return `[${pages.join()}]`
    last = page.at(-1)
  }
}

/** Written by hand: JSON.stringify takes no bigint. Numbers read as they are written in JSON. */
function itemJson({ lat, lon, timestamp, received_us }: StoredPosition): string {
  return `{"lat":${lat},"lon":${lon},"timestamp":${timestamp},"server_timestamp":${received_us / 1_000_000n}}`
}

// As much as the relay takes of an answer. Half a million positions at least; a tracker that says where it is each second has
// 7,200 in two hours.
const MAX_LENGTH = 64 * 1024 * 1024
