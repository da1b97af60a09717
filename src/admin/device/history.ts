import * as z from 'zod'
import { yieldToEventLoop } from '../../async.ts'
import { type DayFacts, type DaySpan, dayOf } from '../../diagnose/history.ts'
import { localDay } from '../../domain/times.ts'
import { parse, refuseFields } from '../../http/refusal.ts'
import { belongedAt, type DeviceEntry, staysWithin } from '../../roster/device-entry.ts'
import { NOTES_KEPT_MS, type NotedDay, readDays } from '../../store/index.ts'
import type { WithTexts } from '../../texts/language.ts'
import { dateOf, spanJson } from '../json.ts'
import type { Operation } from '../operation.ts'
import { instantIn } from '../roster/writes.ts'
import { type DayJson, HistoryJson } from '../schemas/days.ts'
import { type DetailSources, describeDevice } from './device.ts'
import { readBacklogs, vanDayFacts } from './van-day.ts'

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
    reads: 'positions',
    companies: 'by_device',
    async handle({ params, query }, reply, scope) {
      const { id } = params as { id: string }
      const { found, missing } = await describeDevice(id, sources, scope)
      if (!found) return reply.code(404).send(missing)
      const now = Date.now()
      const entry = sources.directory().find(id)
      // A day is noted as a whole, so the day on which the device changed its company is left out, too.
      const isKnown = ({ from }: DaySpan) => belongedAt(entry ?? {}, from) && now - from < NOTES_KEPT_MS
      const days = daysIn(parse(HistoryQuery, query), sources, now).filter(isKnown)
      const known = sources.index.find(id)?.id ?? id
      const starts = days.map(({ from }) => from)
      const shard = sources.redis.shardOf(known)
      const lanes = entry ? lanesIn(entry, days) : []
      const [noted, gateways, backlogs] = await Promise.all([
        readDays(sources.redis, known, starts),
        readDays(sources.redis, '', starts),
        readBacklogs(sources.redis, shard, { lanes, now }),
      ])
      const about = { index: sources.index, roster: sources.directory(), backlogs, now }
      const results: WithTexts<DayJson>[] = []
      for (const [at, day] of days.entries()) {
        const facts = vanDayFacts({ id: known, day, noted: noted[at], gateways: gateways[at] }, about)
        results.push(dayJson(day, facts, noted[at]))
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

/** Returns the lanes that the roster has a device on during these days. */
function lanesIn(entry: DeviceEntry, days: readonly DaySpan[]): string[] {
  const stays = days.flatMap(({ from, until }) => staysWithin(entry, { from: from / 1000, until: until / 1000 }))
  return [...new Set(stays.map(({ lane }) => lane.key))]
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
    days.push({ ...day, date: dateOf(day.from, zone) })
  if (days.length === 0)
    throw refuseFields(422, [{ path: 'from', message: from > now ? 'this day has not begun' : 'after to' }])
  return days
}

function dayJson(
  day: HistoryDay,
  facts: DayFacts,
  { fixes, late }: Pick<NotedDay, 'fixes' | 'late'>,
): WithTexts<DayJson> {
  const { connected, gaps } = dayOf(facts)
  return {
    date: day.date,
    ...spanJson(day),
    fixes,
    late,
    connected: connected.map(spanJson),
    gaps: gaps.map(({ reason, message, ...span }) => ({ ...spanJson(span), reason, message })),
  }
}

const DAY_MS = 86_400_000
const MOST_DAYS = 31
