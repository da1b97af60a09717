import type { AdminPort } from './admin-port.ts'
import { isSilent, type ListedDevice, RosterAnswer } from './answers.ts'
import { type AdminAnswer, bodyOf, errorsOf, errorText } from './client.ts'
import { intervalText, type PutInterval } from './intervals.ts'
import { type Clock, clockIn, listText, MAX_NAMES } from './output.ts'

/** What the admin port answered to the lines of one interval. */
export interface IntervalResult {
  readonly interval: PutInterval
  readonly answer: AdminAnswer
}

/** What all reports of one command share. */
export interface ReportContext {
  readonly file: string
  readonly admin: AdminPort
  readonly zone: string
  readonly company: string
  readonly devices: readonly ListedDevice[]
  /** How many intervals the file is put in. */
  readonly intervals: number
}

/** `isDryRun`: nothing has changed, the report says what would; `isLast`: this one names the silent devices. */
interface ReportKind {
  readonly isDryRun: boolean
  readonly isLast: boolean
}

/** The report of an interval: the lines that are left out, how many lines change, and which devices have a route. */
export function report(
  { interval, answer }: IntervalResult,
  context: ReportContext,
  { isDryRun, isLast }: ReportKind,
): string[] {
  const { file, admin, zone, company, devices, intervals } = context
  const where = `company ${company}, ${intervalText(interval, zone)} (${zone})`
  if (!hasRoster(answer)) return errorLines(answer, file, intervals > 1 ? `${where}: ` : '')
  const roster = bodyOf(admin, answer, RosterAnswer)
  const { rejected, warnings = [], added, changed, removed } = roster
  const now = Date.now()
  const moment = interval.from * 1000 <= now && now < interval.until * 1000 ? 'now' : 'then'
  const clock = clockIn(zone, now, 'minutes')
  return [
    ...rejected.map(({ line, message }) => `${file}:${line}: ${message}`),
    ...warnings.map(({ line, message }) => `warning: ${file}:${line}: ${message}`),
    `${where}${isDryRun ? ' would have' : ':'} ${added} added, ${changed} changed, ${removed} removed`,
    rosterSentence(roster, { devices, company, isDryRun, moment, namesSilent: isLast, clock, now }),
    ...(answer.status === 200 ? [] : [`${errorText(answer)} (routes put --force)`]),
  ]
}

/** Whether no line of an interval is left out or refused. */
export function isAllTaken({ answer }: IntervalResult, admin: AdminPort): boolean {
  return answer.status === 200 && bodyOf(admin, answer, RosterAnswer).rejected.length === 0
}

/** `today.csv: lines 4 and 7 are left out, all others are put: …`; undefined where none is left out. */
export function leftOutSentence(
  results: readonly IntervalResult[],
  file: string,
  admin: AdminPort,
): string | undefined {
  const rejected = results.flatMap(({ answer }) => bodyOf(admin, answer, RosterAnswer).rejected)
  if (rejected.length === 0) return undefined
  const lines = rejected.map(({ line }) => String(line))
  if (lines.length === 1)
    return `${file}: line ${lines[0]} is left out, all others are put: correct it and put the file again`
  const named = lines.length > MAX_NAMES ? [...lines.slice(0, MAX_NAMES - 1), 'others'] : lines
  return `${file}: lines ${listText(named)} are left out, all others are put: correct them and put the file again`
}

function hasRoster({ status }: AdminAnswer): boolean {
  return status === 200 || status === 409
}

/** One line for each mistake in the file or in an option; where none is named, one line for the whole. */
function errorLines(answer: AdminAnswer, file: string, where: string): string[] {
  const lines = errorsOf(answer).map(({ path, message }) => {
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

export interface RosterContext {
  readonly devices: readonly ListedDevice[]
  readonly company: string
  readonly isDryRun: boolean
  /** Whether the answer is about now or another time. */
  readonly moment: 'now' | 'then'
  readonly namesSilent: boolean
  readonly clock: Clock
  /** ms UTC. */
  readonly now: number
}

/** `38 of 40 devices have a route now; Van 12 has none; Van 31 is silent since 18:42` */
export function rosterSentence(answer: RosterAnswer, context: RosterContext): string {
  const { devices, company, isDryRun, moment, namesSilent, clock, now } = context
  const { without_route, devices: all } = answer
  const without = new Set(without_route)
  const ours = devices.filter(({ configured, company_id }) => configured && company_id === company)
  const names = new Map(ours.map((device) => [device.id, device.name ?? device.id]))
  const isMute = (device: ListedDevice) => device.state === 'never' || isSilent(device, now)
  const silent = ours.filter((device) => namesSilent && !without.has(device.id) && isMute(device))
  const verb = isDryRun ? 'would have' : all - without.size === 1 ? 'has' : 'have'
  const clauses = silent.slice(0, MAX_NAMES).map((device) => silenceClause(device, clock))
  return [
    `${all - without.size} of ${all} devices ${verb} a route ${moment}`,
    ...noRouteClause(without_route.map((id) => names.get(id) ?? id)),
    ...clauses,
    ...(silent.length > MAX_NAMES ? [`and ${silent.length - MAX_NAMES} more are silent`] : []),
  ].join('; ')
}

function noRouteClause(names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${listText(names)} ${names.length === 1 ? 'has' : 'have'} none`]
}

function silenceClause({ id, name = id, last_heard }: ListedDevice, clock: Clock): string {
  return last_heard ? `${name} is silent since ${clock(last_heard.at)}` : `${name} was never heard`
}
