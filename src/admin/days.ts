import * as z from 'zod'
import { csvCell } from '../config/csv.ts'
import { DAY_REASONS } from '../diagnose/day-sheet.ts'
import type { DaySpan } from '../diagnose/history.ts'
import { laneIds } from '../domain/ids.ts'
import { localDay, timesIn } from '../domain/times.ts'
import { parse, refuseFields } from '../http/refusal.ts'
import { delayOf } from '../store/index.ts'
import type { WithTexts } from '../texts/language.ts'
import { Id } from '../tracking/schemas.ts'
import type { DaySheets, LaneSheet } from './day-sheets.ts'
import { dateOf, instant, spanJson } from './json.ts'
import type { Operation } from './operation.ts'
import { type ListPlace, PageQuery, pageOf } from './paging.ts'
import { type DaySheetJson, DaysJson } from './schemas/days.ts'
import type { Scope } from './scope.ts'

interface DaysSources {
  readonly sheets: DaySheets
  readonly zone: () => string
}

/** `GET /admin/days`: the sheets of a local day, one for each courier and route, the worst share first. */
export function daysOperation({ sheets, zone }: DaysSources): Operation {
  return {
    method: 'GET',
    path: '/admin/days',
    id: 'listDays',
    summary:
      'List for a day what became of each route: planned and covered minutes, gaps with their reasons, delays. CSV, of all, with `Accept: text/csv`',
    query: DaysQuery,
    answer: DaysJson,
    answerType: [JSON_TYPE, CSV_TYPE],
    reads: 'positions',
    companies: 'filtered',
    async handle({ query, headers }, reply, scope) {
      const { day: asked, company_id, route_id, ...page } = parse(DaysQuery, query)
      const now = Date.now()
      const day = dayIn(asked, zone(), now)
      const key = `${scope.key} ${company_id ?? ''} ${route_id ?? ''}`
      const isListed = isListedBy({ company_id, route_id }, scope)
      const found = await sheets.read({ day, key, isListed, isNextPage: page.page_token !== undefined })
      const date = dateOf(day.from, zone())
      if (CSV_ACCEPTED.test(headers.accept ?? ''))
        return reply.type(`${CSV_TYPE}; charset=utf-8`).send(csvOf(found, date))
      const { results, ...rest } = await pageOf(found, { list: `days ${date} ${key}`, placeOf }, page)
      return {
        day: date,
        time_zone: zone(),
        ...spanJson(day),
        as_of_at: instant(Math.min(day.until, now)),
        results: results.map((sheet) => sheetJson(sheet, date)),
        ...rest,
      }
    },
  }
}

const MOST_DIGITS = 20

const DaysQuery = PageQuery.extend({
  day: z.string('expected one day').optional().meta({ format: 'date' }),
  company_id: Id.optional(),
  route_id: Id.optional(),
})

/** Returns the local day of a query; without one, today. @throws ApiRefusal 422 unless it is one of the last 31 days */
function dayIn(asked: string | undefined, zone: string, now: number): DaySpan {
  const today = localDay(now, zone)
  if (asked === undefined) return today
  const day = timesIn(zone).day(asked)
  const message =
    day === undefined
      ? 'expected a day such as 2026-11-20'
      : day.from * 1000 > now
        ? 'this day has not begun'
        : today.from - day.from * 1000 > (MOST_DAYS + 0.5) * DAY_MS
          ? `more than ${MOST_DAYS} days ago`
          : undefined
  if (!day || message !== undefined) throw refuseFields(422, [{ path: 'day', message: message ?? '' }])
  return { from: day.from * 1000, until: day.until * 1000 }
}

function isListedBy({ company_id, route_id }: Partial<DaySheetJson>, scope: Scope): (lane: string) => boolean {
  return (lane) => {
    const ids = laneIds(lane)
    const isAsked = (company_id ?? ids.company_id) === ids.company_id && (route_id ?? ids.route_id) === ids.route_id
    return isAsked && scope.seesLane(lane)
  }
}

/** The worst share first; last what has none. Routes of one share by their numbers. */
export function placeOf({ lane, sheet }: Pick<LaneSheet, 'lane' | 'sheet'>): ListPlace {
  return [sheet.share ?? 2, `${laneIds(lane).route_id.padStart(MOST_DIGITS)} ${lane}`]
}

/** As JSON, with texts that are not put into words yet. */
type SheetAnswer = Omit<DaySheetJson, 'gaps'> & { readonly gaps: WithTexts<DaySheetJson['gaps']> }

function sheetJson({ lane, sheet, figures, verified }: LaneSheet, day: string): SheetAnswer {
  const { fixes = 0, late = 0, redelivered = 0, delays, first, last } = figures ?? {}
  return {
    ...laneIds(lane),
    day,
    devices: [...sheet.devices],
    planned: sheet.planned.map(spanJson),
    planned_min: sheet.plannedMin,
    covered_min: sheet.coveredMin,
    share: sheet.share,
    first_fix_at: instant(first && first * 1000) ?? null,
    start_delay_min: sheet.startDelayMin,
    last_fix_at: instant(last && last * 1000) ?? null,
    fixes,
    late_fixes: late,
    delay_p50_s: delays ? seconds(delayOf(delays, 0.5)) : null,
    delay_p95_s: delays ? seconds(delayOf(delays, 0.95)) : null,
    longest_gap_min: sheet.longestGapMin,
    gaps: sheet.gaps.map(({ from, until, ...gap }) => ({ ...spanJson({ from, until }), ...gap })),
    by_reason: sheet.byReason,
    verified,
    redelivered,
  }
}

/** Rounds a delay to two digits: it is only known to 9 %. */
function seconds(ms: number | null): number | null {
  return ms === null ? null : Number((ms / 1000).toPrecision(2))
}

/** A line for each sheet, times in UTC; several values of a cell are separated by blanks. */
function csvOf(found: readonly LaneSheet[], day: string): string {
  const sheets = found.map((each) => ({ place: placeOf(each), json: sheetJson(each, day) }))
  const ordered = sheets.toSorted(({ place: [rank, lane] }, { place: [otherRank, otherLane] }) => {
    return rank - otherRank || (lane < otherLane ? -1 : 1)
  })
  const rows = ordered.map(({ json }) => Object.values(COLUMNS).map((of) => String(of(json) ?? '')))
  return [Object.keys(COLUMNS), ...rows].map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')
}

type DayColumn = (sheet: SheetAnswer) => string | number | null
/** Fields with one value. */
type PlainField = Exclude<keyof DaySheetJson, 'devices' | 'planned' | 'gaps' | 'by_reason' | 'verified'>
const plain = (...names: PlainField[]) =>
  Object.fromEntries(names.map((name): [string, DayColumn] => [name, (sheet) => sheet[name]]))
/** The columns of CSV, each with its value of a sheet. */
const COLUMNS: Readonly<Record<string, DayColumn>> = {
  ...plain('company_id', 'courier_id', 'route_id', 'day'),
  devices: ({ devices }) => devices.join(' '),
  planned: ({ planned }) => planned.map(({ from_at, until_at }) => `${from_at}/${until_at}`).join(' '),
  ...plain('planned_min', 'covered_min', 'share', 'first_fix_at', 'start_delay_min', 'last_fix_at'),
  ...plain('fixes', 'late_fixes', 'delay_p50_s', 'delay_p95_s', 'longest_gap_min'),
  ...Object.fromEntries(
    DAY_REASONS.map((reason): [string, DayColumn] => [`${reason}_min`, (sheet) => sheet.by_reason[reason] ?? 0]),
  ),
  redelivered: ({ redelivered }) => redelivered,
}

const JSON_TYPE = 'application/json'
const CSV_TYPE = 'text/csv'
/** CSV is asked for by name: a browser accepts anything. */
const CSV_ACCEPTED = /^\s*text\/csv\b/i
const DAY_MS = 86_400_000
const MOST_DAYS = 31
