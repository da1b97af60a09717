import type { DaySheetJson, DaysJson } from '../admin/schemas/days.ts'
import { localFromUtc } from '../domain/times.ts'
import { UserError } from '../errors.ts'
import { type AdminPort, type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { ask, readPages, readStatus, refusalOf } from './client.ts'
import { countText, printExact, printLines, table } from './output.ts'

interface DayOptions extends AdminPortOptions, Readonly<Partial<Record<'day' | 'route' | 'company', string>>> {
  readonly json?: boolean
  readonly csv?: boolean
}

/** `waybridge day`: what became of each route of a day, the worst first. @returns the exit code: 1 if there is no such route @throws UserError */
export async function dayCommand({ day, route, company, ...options }: DayOptions): Promise<number> {
  if (options.csv && options.json) throw new UserError('day: give --csv or --json, not both.')
  const admin = await findAdminPort(options)
  const asked = { day: await dayOption(day, admin), route_id: route, company_id: company }
  const query = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) as ListedBy
  if (options.csv) return printCsv(admin, query)
  const answer = await readPages<DaysJson>(admin, PATH, query)
  const { results } = answer
  if (options.json) printExact([JSON.stringify(answer, undefined, 2)])
  else printLines(results.length > 0 ? linesOf(answer, route !== undefined) : [`${answer.day}: no route`])
  return results.length > 0 ? 0 : 1
}

type ListedBy = Readonly<Record<string, string>>

async function printCsv(admin: AdminPort, query: ListedBy): Promise<number> {
  const answer = await ask(admin, { path: PATH, query, accept: 'text/csv' })
  if (answer.status !== 200) throw refusalOf(answer)
  const lines = answer.text.trimEnd().split('\r\n')
  printLines(lines)
  return lines.length > 1 ? 0 : 1
}

/** `yesterday` as a date of the gateway's time zone; anything else is for the admin port to read. */
export async function dayOption(day: string | undefined, admin: AdminPort): Promise<string | undefined> {
  if (day !== 'yesterday') return day === 'today' ? undefined : day
  const { time_zone } = (await readStatus(admin)).status
  const today = Math.floor(localFromUtc(Date.now(), time_zone) / DAY_MS)
  return new Date((today - 1) * DAY_MS).toISOString().slice(0, 10)
}

/** `isWhole`: with all gaps. */
function linesOf({ day, time_zone, as_of_at, until_at, results }: DaysJson, isWhole: boolean): string[] {
  const clock = (at: string) => new Date(localFromUtc(Date.parse(at), time_zone)).toISOString().slice(11, 16)
  const [planned, covered] = [sumOf(results, 'planned_min'), sumOf(results, 'covered_min')]
  const untilNow = as_of_at < until_at ? `, until ${clock(as_of_at)}` : ''
  const share = planned === 0 ? 'none planned' : `${shareText(planned, covered)} covered`
  const head = `${day} (${time_zone})${untilNow}: ${countText(results.length, 'route')}, ${share}`
  const rows = results.map((sheet) => columnsOf(sheet, clock))
  return [head, '', ...table(HEADS, rows), ...(isWhole ? results.flatMap((sheet) => gapLines(sheet, clock)) : [])]
}

function columnsOf(sheet: DaySheetJson, clock: (at: string) => string): string[] {
  const { route_id, courier_id, planned, planned_min, covered_min, fixes, redelivered, by_reason, start_delay_min } =
    sheet
  const reasons = Object.entries(by_reason).toSorted(([, one], [, other]) => other - one)
  return [
    route_id,
    courier_id,
    planned.map(({ from_at, until_at }) => `${clock(from_at)}–${clock(until_at)}`).join(' ') || 'none',
    shareText(planned_min, covered_min),
    start_delay_min === null ? '' : minutes(start_delay_min),
    sheet.longest_gap_min === 0 ? '' : minutes(sheet.longest_gap_min),
    String(fixes),
    sheet.delay_p95_s === null ? '' : `${sheet.delay_p95_s} s`,
    redelivered === 0 ? '' : String(redelivered),
    reasons.map(([reason, min]) => `${reason} ${minutes(min)}`).join(', '),
  ]
}

function gapLines({ route_id, courier_id, gaps }: DaySheetJson, clock: (at: string) => string): string[] {
  const lines = gaps.map(({ from_at, until_at, min, message, device }) => {
    return `  ${clock(from_at)}–${clock(until_at)}  ${minutes(min)}: ${message} (${device})`
  })
  return lines.length === 0 ? [] : ['', `Gaps of route ${route_id}, courier ${courier_id}:`, ...lines]
}

/** Rounds down, so that 100 % appears only if nothing is missing. */
function shareText(planned: number, covered: number): string {
  return planned === 0 ? '' : `${Math.floor((covered / planned) * 1000) / 10} %`
}

function minutes(min: number): string {
  return min < 120 ? `${min} min` : `${Math.floor(min / 60)} h ${min % 60} min`
}

function sumOf(sheets: readonly DaySheetJson[], of: 'planned_min' | 'covered_min'): number {
  return sheets.reduce((sum, sheet) => sum + sheet[of], 0)
}

const HEADS = [
  'route',
  'courier',
  'planned',
  'covered',
  'start late',
  'longest gap',
  'fixes',
  'delay p95',
  'redelivered',
  'why',
]
const PATH = '/admin/days'
const DAY_MS = 86_400_000
