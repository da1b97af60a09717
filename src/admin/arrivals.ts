import * as z from 'zod'
import { duration } from '../domain/units.ts'
import { parse } from '../http/refusal.ts'
import { type ArrivedSender, surveyArrivals } from '../store/arrivals.ts'
import { enrolmentLeft, setEnrolment } from '../store/enrolment.ts'
import type { Store } from '../store/index.ts'
import type { DeviceSources } from './device/list.ts'
import type { EventSource } from './events/feed.ts'
import { instant } from './json.ts'
import type { Operation } from './operation.ts'
import { PageQuery, pageOf } from './paging.ts'
import { ArrivalJson } from './schemas/arrivals.ts'
import { Instant, pageSchema } from './schemas/parts.ts'

/**
 * `GET /admin/arrivals`, latest first: devices that are not configured, configured devices whose sender is not accepted, and
 * senders that no protocol understood.
 */
export function arrivalOperations({ redis, directory }: Pick<DeviceSources, 'redis' | 'directory'>): Operation[] {
  const isConfigured = (device: string) => directory().find(device) !== undefined
  return [
    {
      method: 'GET',
      path: '/admin/arrivals',
      id: 'listArrivals',
      summary: 'List the devices that are not configured, and the senders that were not understood, the latest first',
      query: PageQuery,
      answer: pageSchema(ArrivalJson),
      reads: 'positions',
      async handle({ query, caller }) {
        const arrivals = await surveyArrivals(redis, isConfigured)
        const listing = {
          list: 'arrivals',
          placeOf: ({ at, address, device = '' }: (typeof arrivals)[number]) => [-at, `${address} ${device}`] as const,
        }
        const { results, ...rest } = await pageOf(arrivals, listing, parse(PageQuery, query))
        const hasBytes = caller?.role === 'operate'
        return { results: results.map((arrival) => arrivalJson(arrival, isConfigured, hasBytes)), ...rest }
      },
    },
  ]
}

/** The senders that arrive or are heard again. */
export function arrivalSource({ redis, directory }: Pick<DeviceSources, 'redis' | 'directory'>): EventSource {
  const isConfigured = (device: string) => directory().find(device) !== undefined
  let heard: ReadonlyMap<string, number> | undefined
  return {
    topic: 'arrival',
    async look() {
      const [before, now] = [heard, new Map<string, number>()]
      const isNew = ({ address, at, device }: ArrivedSender) => {
        const key = device === undefined ? `${address} ${at}` : `device ${device}`
        now.set(key, at)
        return before !== undefined && before.get(key) !== at
      }
      const arrivals = await surveyArrivals(redis, isConfigured, isNew)
      heard = now
      // Arrivals belong to no company.
      return arrivals.toReversed().map((arrival) => ({
        device: arrival.device,
        dataFor: ({ isAll }) => (isAll ? arrivalJson(arrival, isConfigured) : undefined),
      }))
    },
  }
}

type SurveyedArrival = Awaited<ReturnType<typeof surveyArrivals>>[number]

function arrivalJson(
  { at, bytes, isGuess, json: _json, position, ...rest }: SurveyedArrival,
  isConfigured: (device: string) => boolean,
  hasBytes = false,
): object {
  const { time = 0, latitude, longitude } = position ?? {}
  return {
    at: instant(at),
    ...rest,
    bytes: hasBytes ? bytes : undefined,
    is_guess: isGuess,
    configured: (rest.device !== undefined && isConfigured(rest.device)) || undefined,
    position: position && { at: instant(time), lat: latitude, lon: longitude },
  }
}

/**
 * `/admin/enrolment`: the window in which devices that are not configured are admitted even with `hold.unknown: false`.
 * Redis keeps the window with its end, so that every gateway closes it by itself.
 */
export function enrolmentOperations(redis: Store): Operation[] {
  const state = async () => {
    const leftMs = await enrolmentLeft(redis)
    return { open: leftMs > 0, until_at: leftMs > 0 ? instant(Date.now() + leftMs) : undefined }
  }
  const common = { path: '/admin/enrolment', answer: EnrolmentJson }
  return [
    {
      ...common,
      method: 'GET',
      id: 'getEnrolment',
      summary: 'Get whether the enrolment window is open',
      handle: state,
    },
    {
      ...common,
      method: 'POST',
      id: 'openEnrolment',
      summary: 'Open the enrolment window: devices that are not configured are admitted until it closes',
      query: OpenQuery,
      async handle(request) {
        const forMs = parse(OpenQuery, request.query).for
        await setEnrolment(redis, forMs)
        request.audit = { seconds: Math.round(forMs / 1000) }
        return state()
      },
    },
    {
      ...common,
      method: 'DELETE',
      id: 'closeEnrolment',
      summary: 'Close the enrolment window',
      async handle() {
        await setEnrolment(redis, 0)
        return state()
      },
    },
  ]
}

const EnrolmentJson = z.object({ open: z.boolean(), until_at: Instant.optional() })

const MAX_MS = 86_400_000
const FOR_EXPECTED = 'expected a duration such as 30m, at least 1s and at most 24h'
const OpenQuery = z.object({
  for: z
    .string(FOR_EXPECTED)
    .transform((text, context) => {
      const ms = duration(text)
      if (ms !== undefined && ms >= 1000 && ms <= MAX_MS) return ms
      context.addIssue({ code: 'custom', message: FOR_EXPECTED })
      return z.NEVER
    })
    .meta({ type: 'string', description: 'How long from now on: 30m.' }),
})
