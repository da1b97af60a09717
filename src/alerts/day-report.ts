import { placeOf } from '../admin/days.ts'
import { dateOf } from '../admin/json.ts'
import type { LaneSheet } from '../admin/day-sheets.ts'
import { compare } from '../admin/paging.ts'
import type { DayReason } from '../diagnose/day-sheet.ts'
import { companyOfLane, laneIds } from '../domain/ids.ts'
import { localFromUtc, utcFromLocal } from '../domain/times.ts'
import { inLanguage, type Language } from '../texts/language.ts'
import { counted, joined, say, type Template, type Text } from '../texts/text.ts'

/** The report of a company and a day for the receivers of alerts. */
export interface DayReport {
  readonly company_id: string
  /** `2026-11-20` */
  readonly day: string
  readonly language: Language
  readonly routes: number
  readonly planned_min: number
  readonly covered_min: number
  readonly share: number | null
  readonly redelivered: number
  /** The routes with the worst share, if something is missing on them. */
  readonly worst: readonly {
    readonly courier_id: string
    readonly route_id: string
    readonly share: number | null
    readonly by_reason: Readonly<Partial<Record<DayReason, number>>>
  }[]
  /** One line with the result, and several with details, in the language of the report. */
  readonly title: string
  readonly lines: readonly string[]
}

interface ReportOptions {
  readonly day: string
  readonly language: Language
  /** The name of a company, if it has one. */
  readonly nameOf: (company: string) => string | undefined
}

/** Pure: a report for each company that has a route on the day. */
export function dayReports(sheets: readonly LaneSheet[], options: ReportOptions): DayReport[] {
  const byCompany = Map.groupBy(sheets, ({ lane }) => companyOfLane(lane))
  return Array.from(byCompany, ([company, own]) => reportOf(company, own, options))
}

function reportOf(
  company_id: string,
  sheets: readonly LaneSheet[],
  { day, language, nameOf }: ReportOptions,
): DayReport {
  const sum = (of: (sheet: LaneSheet) => number) => sheets.reduce((total, sheet) => total + of(sheet), 0)
  const planned_min = sum(({ sheet }) => sheet.plannedMin)
  const covered_min = sum(({ sheet }) => sheet.coveredMin)
  const redelivered = sum(({ figures }) => figures?.redelivered ?? 0)
  const ordered = sheets.toSorted((one, other) => compare(placeOf(one), placeOf(other)))
  const incomplete = ordered.filter(({ sheet }) => sheet.share !== null && sheet.share < 1)
  const worst = incomplete.slice(0, NAMED).map(({ lane, sheet }) => {
    const { courier_id, route_id } = laneIds(lane)
    return { courier_id, route_id, share: sheet.share, by_reason: sheet.byReason }
  })
  const routes = sheets.filter(({ sheet }) => sheet.planned.length > 0).length
  const more = incomplete.length - worst.length
  const lines: Text[] = [
    ...worst.map(({ courier_id, route_id, share, by_reason }) =>
      say('Route {} (courier {}): {}; {}', route_id, courier_id, percentText(share ?? 0), reasonsText(by_reason)),
    ),
    more > 0 ? counted(more, '{} more route has gaps', '{} more routes have gaps') : [],
    redelivered > 0
      ? counted(
          redelivered,
          '{} position was delivered again, to the route where it belongs',
          '{} positions were delivered again, to the route where they belong',
        )
      : [],
  ].flat()
  const subject = say('{}, {}', nameOf(company_id) ?? say('company {}', company_id), day)
  const share = planned_min === 0 ? null : covered_min / planned_min
  const count = counted(routes, '{} route', '{} routes')
  const title =
    share === null
      ? say('{}: {}, nothing was planned so far', subject, count)
      : say('{}: {}, {} of the planned time with positions', subject, count, percentText(share))
  return {
    company_id,
    day,
    language,
    routes,
    planned_min,
    covered_min,
    share: share === null ? null : Math.floor(share * 10_000) / 10_000,
    redelivered,
    worst,
    title: capital(inLanguage(title, language)),
    lines: lines.map((line) => inLanguage(line, language)),
  }
}

/** Returns the two most frequent reasons. */
function reasonsText(byReason: DayReport['worst'][number]['by_reason']): Text {
  const reasons = Object.entries(byReason) as [DayReason, number][]
  const most = reasons.toSorted(([, one], [, other]) => other - one).slice(0, MOST_REASONS)
  const texts = most.map(([reason, min]) => say(REASONS[reason], durationText(min)))
  return joined(texts, ', ')
}

function durationText(min: number): Text {
  return min < 60 ? say('{} min', min) : say('{} h {} min', Math.floor(min / 60), min % 60)
}

/** Rounded down: 100 % is said if nothing is missing. */
function percentText(share: number): Text {
  return say('{} %', Math.floor(share * 1000) / 10)
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const REASONS = {
  not_connected: '{} not heard',
  parked: '{} parked',
  no_fix: '{} heard, without a position',
  filtered: '{} with positions that were filtered',
  held: '{} with positions that are held',
  not_stored: '{} with positions that could not be stored',
  waiting: '{} with positions that wait for the tracking API',
  refused: '{} with positions that the tracking API refuses',
  unknown: '{} without notes',
  not_started: '{} not started',
} satisfies Record<DayReason, Template>
const NAMED = 5
const MOST_REASONS = 2

/** A day to be reported at `now` (ms UTC). */
export interface DueDay {
  /** `2026-11-20`: the one that is reported. */
  readonly day: string
  /** Begins and ends, ms UTC. */
  readonly from: number
  readonly until: number
}

/**
 * Pure. Returns the local day to report now: a report is due from `at` (minutes since midnight) for three hours; before noon
 * it is about the previous day. Undefined: none is due.
 */
export function dueDay(at: number, zone: string, now: number): DueDay | undefined {
  const midnight = Math.floor(localFromUtc(now, zone) / DAY_MS) * DAY_MS
  for (const local of [midnight, midnight - DAY_MS]) {
    const scheduled = utcFromLocal(local + at * MINUTE_MS, zone)
    if (now < scheduled || now >= scheduled + MISSED_MS) continue
    const reported = at < NOON ? local - DAY_MS : local
    const from = utcFromLocal(reported, zone)
    return { day: dateOf(from, zone), from, until: utcFromLocal(reported + DAY_MS, zone) }
  }
  return undefined
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const NOON = 720
const MISSED_MS = 3 * 3_600_000
