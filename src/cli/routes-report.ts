import type { DeviceRowJson } from '../admin/schemas/devices.ts'
import type { RosterPutJson } from '../admin/schemas/roster.ts'
import { type Clock, clockIn, type Interval } from '../domain/times.ts'
import { type AdminAnswer, errorOf, errorText, isSilent } from './client.ts'
import { intervalText } from './intervals.ts'
import { listText, MAX_NAMES } from './output.ts'

/** The admin port's answer to the lines of one interval. */
export interface IntervalResult {
  readonly interval: Interval
  readonly answer: AdminAnswer
  /** Whether the lines are put; otherwise nothing has changed. */
  readonly isPut: boolean
  /** What changes; absent where the lines are refused for a mistake. */
  readonly roster?: RosterPutJson
}

/** What all reports of one command share. */
export interface ReportContext {
  readonly file: string
  readonly zone: string
  readonly company: string
  readonly devices: readonly DeviceRowJson[]
  /** The intervals that the file is put in; the report of the last one names the silent devices. */
  readonly intervals: readonly Interval[]
}

/** Returns the report of an interval: skipped lines, the number of changed lines, and which devices have a route. */
export function report(result: IntervalResult, context: ReportContext): string[] {
  const { interval, answer, isPut, roster } = result
  const { file, zone, company, intervals } = context
  const where = `company ${company}, ${intervalText(interval, zone)} (${zone})`
  if (!roster) return errorLines(answer, file, intervals.length > 1 ? `${where}: ` : '')
  const { rejected, warnings = [], added, changed, removed } = roster
  return [
    ...rejected.map(({ line, message }) => `${file}:${line}: ${message}`),
    ...warnings.map(({ line, message }) => `warning: ${file}:${line}: ${message}`),
    `${where}${isPut ? ':' : ' would have'} ${added} added, ${changed} changed, ${removed} removed`,
    rosterSentence({ ...result, roster }, context, Date.now()),
    ...(answer.status === 200 ? [] : [MOST_LOSE]),
  ]
}

/** `today.csv: lines 4 and 7 are left out, all others are put: …`; undefined if no line is left out. */
export function leftOutSentence(results: readonly IntervalResult[], file: string): string | undefined {
  const lines = results.flatMap(({ roster }) => roster?.rejected.map(({ line }) => String(line)) ?? [])
  if (lines.length === 0) return undefined
  const [what, which] = lines.length === 1 ? [`line ${lines[0]} is`, 'it'] : [`lines ${listText(lines)} are`, 'them']
  return `${file}: ${what} left out, all others are put: correct ${which} and put the file again`
}

/** Returns one line for each mistake in the file or in an option; if the answer names none, one line for the whole. */
function errorLines(answer: AdminAnswer, file: string, where: string): string[] {
  const lines = (errorOf(answer).errors ?? []).map(({ path, message }) => {
    const line = /^line (\d+)$/.exec(path)?.[1]
    return `${line === undefined ? (OPTIONS.get(path) ?? `${file}: ${path}`) : `${file}:${line}`}: ${message}`
  })
  return lines.length > 0 ? lines : [`${where}${errorText(answer)}`]
}

/** The option of each query parameter. */
const OPTIONS = new Map([
  ['company_id', '--company'],
  ['from', '--from'],
  ['until', '--until'],
])

/** `38 of 40 devices have a route now; Van 12 has none; Van 31 is silent since 18:42`. `now`: ms UTC. */
export function rosterSentence(
  { interval, isPut, roster }: Omit<Required<IntervalResult>, 'answer'>,
  { devices, company, intervals, zone }: Omit<ReportContext, 'file'>,
  now: number,
): string {
  const { without_route, devices: all } = roster
  const without = new Set(without_route)
  const ours = devices.filter(({ configured, company_id }) => configured && company_id === company)
  const names = new Map(ours.map((device) => [device.id, device.name ?? device.id]))
  const isMute = (device: DeviceRowJson) => device.state === 'never' || isSilent(device, now)
  const mute = ours.filter((device) => !without.has(device.id) && isMute(device))
  const silent = interval === intervals.at(-1) ? mute : []
  const verb = isPut ? (all - without.size === 1 ? 'has' : 'have') : 'would have'
  const moment = interval.from * 1000 <= now && now < interval.until * 1000 ? 'now' : 'then'
  const routeless = without_route.map((id) => names.get(id) ?? id)
  const clock = clockIn(zone, now, 'minutes')
  return [
    `${all - without.size} of ${all} devices ${verb} a route ${moment}`,
    ...(routeless.length > 0 ? [`${listText(routeless)} ${routeless.length === 1 ? 'has' : 'have'} none`] : []),
    ...silent.slice(0, MAX_NAMES).map((device) => silenceClause(device, clock)),
    ...(silent.length > MAX_NAMES ? [`and ${silent.length - MAX_NAMES} more`] : []),
  ].join('; ')
}

function silenceClause({ id, name = id, last_heard }: DeviceRowJson, clock: Clock): string {
  return last_heard ? `${name} is silent since ${clock(last_heard.at)}` : `${name} was never heard`
}

const MOST_LOSE = 'more than half of the vans that have a route would lose it'
