import * as z from 'zod'
import { surveyArrivals } from '../ingest/arrivals.ts'
import { parse } from '../tracking/refusal.ts'
import type { DeviceSources } from './device/list.ts'
import { Count, Instant, instant, pageSchema, Text } from './json.ts'
import type { Operation } from './operation.ts'
import { PageQuery, pageOf } from './paging.ts'

/** `GET /admin/arrivals`: devices that nobody configured, and senders that nobody understood, the latest first. */
export function arrivalOperations({ redis, directory }: Pick<DeviceSources, 'redis' | 'directory'>): Operation[] {
  return [
    {
      method: 'GET',
      path: '/admin/arrivals',
      id: 'listArrivals',
      summary: 'List the devices that are not configured, and the senders that were not understood, the latest first',
      query: PageQuery,
      answer: pageSchema(ArrivalJson),
      async handle({ query }) {
        const arrivals = await surveyArrivals(redis, (device) => directory().find(device) !== undefined)
        const listing = {
          list: 'arrivals',
          placeOf: ({ at, address, device = '' }: (typeof arrivals)[number]) => [-at, `${address} ${device}`] as const,
        }
        const { results, ...rest } = await pageOf(arrivals, listing, parse(PageQuery, query))
        return { results: results.map(arrivalJson), ...rest }
      },
    },
  ]
}

const ArrivalJson = z.object({
  at: Instant,
  address: Text,
  transport: z.enum(['tcp', 'udp', 'http', 'mqtt']),
  port: z.int().optional(),
  protocol: Text.optional(),
  evidence: z.array(Text),
  is_guess: z.boolean().optional(),
  device: Text.optional(),
  bytes: Text.optional(),
  position: z.object({ at: Instant, lat: z.number(), lon: z.number() }).optional(),
  waiting: Count,
})

function arrivalJson({ at, isGuess, position, ...rest }: Awaited<ReturnType<typeof surveyArrivals>>[number]): object {
  const { time = 0, latitude, longitude } = position ?? {}
  return {
    at: instant(at),
    ...rest,
    is_guess: isGuess,
    position: position && { at: instant(time), lat: latitude, lon: longitude },
  }
}
