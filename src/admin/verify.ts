import * as z from 'zod'
import { laneIds } from '../domain/ids.ts'
import { localDay, timesIn } from '../domain/times.ts'
import { ApiRefusal, parse } from '../http/refusal.ts'
import { keptFigures, type Store } from '../store/index.ts'
import type { WithTexts } from '../texts/language.ts'
import { Int64Text } from '../tracking/schemas.ts'
import type { RunResult, Verifier } from '../verify/index.ts'
import { dateOf, instant } from './json.ts'
import type { Operation } from './operation.ts'
import { Flag } from './schemas/parts.ts'
import { VerifiedJson } from './schemas/verify.ts'

interface VerifySources {
  readonly redis: Store
  readonly verifier: Verifier
  readonly keptMs: number
  readonly zone: () => string
  /** Ends runs. */
  readonly closing: AbortSignal
}

/**
 * `POST /admin/verify`: reads the delivered positions of a day back from the tracking API, some routes at a time.
 * `repair=true`: pushes missing positions again; else nothing changes.
 */
export function verifyOperation({ redis, verifier, keptMs, zone, closing }: VerifySources): Operation {
  return {
    method: 'POST',
    path: '/admin/verify',
    id: 'verify',
    summary: 'Compare what was delivered on a day with what the tracking API has',
    query: VerifyQuery,
    answer: VerifiedJson,
    reads: 'positions',
    companies: 'filtered',
    isDryRun: ({ query }) => (query as { repair?: unknown }).repair !== 'true',
    async handle(request, reply, scope) {
      const { company_id, day, page_token, repair, route_id } = parse(VerifyQuery, request.query)
      if (keptMs === 0) throw new ApiRefusal(422, NOTHING_KEPT)
      const now = Date.now()
      const asked = day === undefined ? localDay(now, zone()) : dayOf(day, zone(), now)
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      const isWanted = (route: string) => {
        const [company, id] = route.split('/')
        return scope.sees(company) && (company_id ?? company) === company && (route_id ?? id) === id
      }
      const signal = AbortSignal.any([gone.signal, closing])
      const wanted = { isWanted, day: asked, repair: repair === 'true', from: placeIn(page_token), signal }
      const result = await verifier.run(wanted, now).catch((error: Error) => {
        if (closing.aborted) throw new ApiRefusal(503, 'waybridge stops: ask again later')
        if (gone.signal.aborted) throw new ApiRefusal(503, 'the caller does not wait for the answer')
        throw error
      })
      const { checked, missing, repaired } = result
      if (repair === 'true') request.audit = { checked, missing: missing.length, repaired }
      const { since = 0 } = await keptFigures(redis)
      const keptSince = Math.max(since, now - keptMs)
      return verifiedJson(result, { day: asked, zone: zone(), keptSince })
    },
  }
}

const VerifyQuery = z.object({
  route_id: Int64Text.optional(),
  company_id: Int64Text.optional(),
  day: z.string('expected one text').describe('A local day, 2026-11-20; default: today.').optional(),
  repair: Flag.describe('Push what is missing once more.'),
  page_token: z.string('expected one next_page_token').optional(),
})

interface ComparedDay {
  readonly day: { readonly from: number; readonly until: number }
  readonly zone: string
  /** From when on delivered fixes are kept, ms UTC. */
  readonly keptSince: number
}

function verifiedJson(result: RunResult, { day, zone, keptSince }: ComparedDay): WithTexts<VerifiedJson> {
  const { checked, missing, next, repaired, stopped, unknown, until } = result
  const lanes = [...Map.groupBy(missing, ({ lane }) => lane)]
  return {
    day: dateOf(day.from, zone),
    checked,
    repaired,
    missing: lanes.map(([lane, fixes]) => {
      const times = fixes.map(({ timestamp }) => timestamp)
      return {
        ...laneIds(lane),
        from_at: instant(Math.min(...times) * 1000) ?? '',
        until_at: instant(Math.max(...times) * 1000) ?? '',
        missing: fixes.length,
        positions: fixes.slice(0, MOST_POSITIONS).map(({ latitude, longitude, timestamp }) => {
          return { at: instant(timestamp * 1000) ?? '', lat: latitude, lon: longitude }
        }),
      }
    }),
    unknown: unknown.map(({ company, fixes, message, reason }) => ({ company_id: company, fixes, reason, message })),
    until_at: until < day.until ? instant(until) : undefined,
    kept_since_at: keptSince > day.from ? instant(keptSince) : undefined,
    stopped: stopped?.message,
    next_page_token: next && Buffer.from(next).toString('base64url'),
  }
}

/** @throws ApiRefusal 422 */
function dayOf(text: string, zone: string, now: number): ComparedDay['day'] {
  const day = timesIn(zone).day(text)
  if (!day) throw new ApiRefusal(422, 'day: expected a day such as 2026-11-20')
  if (day.from * 1000 > now) throw new ApiRefusal(422, 'day: this day has not begun')
  return { from: day.from * 1000, until: day.until * 1000 }
}

/** Returns where the previous run ended. @throws ApiRefusal 400 */
function placeIn(token: string | undefined): string | undefined {
  if (token === undefined) return undefined
  const place = Buffer.from(token, 'base64url').toString()
  if (PLACE.test(place)) return place
  throw new ApiRefusal(400, 'page_token: not a token of this operation; send the next_page_token of the answer before')
}

const PLACE = /^\d{1,7} \d{1,19}\/\d{1,19}$/
const MOST_POSITIONS = 100
const NOTHING_KEPT = 'keep.delivered is 0s in gateway.yaml: nothing is kept that could be compared'
