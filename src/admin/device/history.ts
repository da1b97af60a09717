import * as z from 'zod'
import { yieldToEventLoop } from '../../async.ts'
import { type DaySpan, dayOf } from '../../diagnose/history.ts'
import { leastSilenceMs } from '../../diagnose/parked.ts'
import { localDay, localFromUtc } from '../../domain/times.ts'
import { parse, refuseFields } from '../../http/refusal.ts'
import { belongedAt } from '../../roster/device-entry.ts'
import { BEHIND_MS, type NotedDay, readDays } from '../../store/index.ts'
import { instant } from '../json.ts'
import type { Operation } from '../operation.ts'
import { instantIn } from '../roster/writes.ts'
import { type DayJson, HistoryJson } from '../schemas/history.ts'
import { factsOf } from './condition.ts'
import { type DetailSources, describeDevice } from './device.ts'

/**
 * `GET /admin/devices/{id}/history`: local days, the earliest first: when the device was connected, the times without a position
 * that has gone on, and how many fixes came, and came late.
 */
export function historyOperation(sources: DetailSources): Operation {
  return {
    method: 'GET',
    path: '/admin/devices/{id}/history',
    id: 'getDeviceHistory',
    summary: 'Get the days of a device: when it was connected, its gaps with their reasons, late fixes',
    query: HistoryQuery,
    answer: HistoryJson,
    refusals: [404],
    companies: 'by_device',
    async handle({ params, query }, reply, scope) {
      const { id } = params as { id: string }
      const { found, missing } = await describeDevice(id, sources, scope)
      if (!found) return reply.code(404).send(missing)
      const now = Date.now()
      const entry = sources.directory().find(id)
      // A day is noted as a whole: that on which the device has changed its company is left out, too.
      const days = daysIn(parse(HistoryQuery, query), sources, now).filter(({ from }) => belongedAt(entry ?? {}, from))
      const known = sources.index.find(id)?.id ?? id
      const starts = days.map(({ from }) => from)
      const [noted, gateways] = await Promise.all([
        readDays(sources.redis, known, starts),
        readDays(sources.redis, '', starts),
      ])
      const present = presentOf(id, found, { sources, now })
      const results: DayJson[] = []
      for (const [at, day] of days.entries()) {
        results.push(dayJson(day, { noted: noted[at], gateway: gateways[at] }, { ...present, now }))
        await yieldToEventLoop()
      }
      return { days: results, time_zone: sources.live.config.time_zone }
    },
  }
}

const HistoryQuery = z.object({ from: z.string().optional(), to: z.string().optional() })
interface HistoryDay extends DaySpan {
  readonly date: string
}

/** The local days of the query, which are at most 31 and end now; without one the last seven. @throws ApiRefusal 422 */
function daysIn(query: z.infer<typeof HistoryQuery>, { live }: DetailSources, now: number): HistoryDay[] {
  const zone = live.config.time_zone
  const to = Math.min(now, query.to === undefined ? now : instantIn(live, 'to', query.to) * 1000)
  const from = query.from === undefined ? to - 6 * DAY_MS : instantIn(live, 'from', query.from) * 1000
  if (to - from > MOST_DAYS * DAY_MS)
    throw refuseFields(422, [{ path: 'from', message: `more than ${MOST_DAYS} days` }])
  const days: HistoryDay[] = []
  for (let day = localDay(from, zone); day.from <= to; day = localDay(day.until, zone))
    days.push({ ...day, date: new Date(localFromUtc(day.from, zone)).toISOString().slice(0, 10) })
  return days
}

interface PresentDetail {
  readonly lane?: { readonly waiting: number; readonly oldest_at?: string }
}

/** What is known of the present minutes, which are not noted in a day yet. */
interface Present {
  readonly leastMs: number
  readonly waitingSince?: number
  readonly connectedSince: number
  readonly heardAt: number
  readonly fixAt: number
}

function presentOf(
  id: string,
  { lane }: PresentDetail,
  { sources, now }: { readonly sources: DetailSources; readonly now: number },
): Present {
  const { index, directory } = sources
  const device = index.find(id)
  const facts = device && factsOf(device, { index, roster: directory(), now })
  const oldest = lane && lane.waiting > 0 ? Date.parse(lane.oldest_at ?? '') : NaN
  return {
    leastMs: leastSilenceMs(facts ?? {}),
    waitingSince: now - oldest > BEHIND_MS ? oldest : undefined,
    connectedSince: facts?.connectedAt ?? Infinity,
    heardAt: facts?.heardAt ?? -Infinity,
    fixAt: device?.heard?.fix?.fix.time ?? -Infinity,
  }
}

function dayJson(
  { date, from, until: end }: HistoryDay,
  { noted, gateway }: { readonly noted: NotedDay; readonly gateway: NotedDay },
  { now, leastMs, waitingSince, connectedSince, heardAt, fixAt }: Present & { readonly now: number },
): DayJson {
  const until = Math.min(end, now)
  const minuteOf = (at: number) => Math.floor((at - from) / MINUTE_MS)
  const [current, connectedFrom, heard, fixed] = [now, connectedSince, heardAt, fixAt].map(minuteOf)
  const { connected, gaps } = dayOf({
    from,
    until,
    leastMs,
    waitingSince,
    has: (kind, minute) =>
      noted.has(kind, minute) ||
      (kind === 'connected' && (minute >= connectedFrom || minute === heard)) ||
      (kind === 'fix' && minute === fixed),
    isCovered: (minute) => gateway.has('connected', minute) || (minute > current - UNWRITTEN && minute > heard),
  })
  const spans = connected.map(spanJson)
  const { fixes, late } = noted
  return {
    date,
    ...spanJson({ from, until: end }),
    fixes,
    late,
    connected: spans,
    gaps: gaps.map(({ reason, message, ...span }) => ({ ...spanJson(span), reason, message })),
  }
}

function spanJson({ from, until }: DaySpan) {
  return { from_at: instant(from) ?? '', until_at: instant(until) ?? '' }
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const MOST_DAYS = 31
/** Minutes until gateways have written that they ran: one of these after the last contact counts as one in which nothing came. */
const UNWRITTEN = 7
