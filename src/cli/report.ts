import type { AdminPort } from './admin-port.ts'
import { type ListedDevice, RosterAnswer } from './answers.ts'
import { type Answer, bodyOf, errorsOf, refusalText } from './ask.ts'
import { clockIn } from './clock.ts'
import { rosterSentence } from './roster.ts'
import { type Window, windowText } from './window.ts'
import { listText, MAX_NAMES } from './words.ts'

/** What the admin port answered to the lines of a window. */
export interface Outcome {
  readonly window: Window
  readonly answer: Answer
}

/** What else there is to know for a report. */
export interface Reported {
  readonly file: string
  readonly admin: AdminPort
  readonly zone: string
  readonly company: string
  readonly devices: readonly ListedDevice[]
  /** How many windows the file is put in. */
  readonly runs: number
  /** Nothing has changed: this is what would be. */
  readonly would: boolean
  /** Whether it is the last of them: that one says who is silent. */
  readonly isLast: boolean
}

/** What became of the lines of a window, or would: the lines that are left out, the sums, and who has a route. */
export function report({ window, answer }: Outcome, about: Reported): string[] {
  const { file, admin, zone, company, would, isLast, runs } = about
  const where = `company ${company}, ${windowText(window, zone)} (${zone})`
  if (!isRoster(answer)) return refused(answer, about, runs > 1 ? `${where}: ` : '')
  const roster = bodyOf(admin, answer, RosterAnswer)
  const { rejected, warnings = [], added, changed, removed } = roster
  const now = Date.now()
  const moment = window.from * 1000 <= now && now < window.until * 1000 ? 'now' : 'then'
  return [
    ...rejected.map(({ line, message }) => `${file}:${line}: ${message}`),
    ...warnings.map(({ line, message }) => `warning: ${file}:${line}: ${message}`),
    `${where}${would ? ' would have' : ':'} ${added} added, ${changed} changed, ${removed} removed`,
    rosterSentence(roster, { ...about, moment, withSilent: isLast, clock: clockIn(zone, now, 'minutes'), now }),
    ...(answer.status === 200 ? [] : [`${refusalText(answer)} (routes put --force)`]),
  ]
}

/** Whether all lines of a window are taken. */
export function isWell({ answer }: Outcome, { admin }: Pick<Reported, 'admin'>): boolean {
  return answer.status === 200 && bodyOf(admin, answer, RosterAnswer).rejected.length === 0
}

/** `today.csv: lines 4 and 7 are left out, all others are put: …`; undefined where none is left out. */
export function leftOutSentence(
  put: readonly Outcome[],
  { file, admin }: Pick<Reported, 'file' | 'admin'>,
): string | undefined {
  const rejected = put.flatMap(({ answer }) => bodyOf(admin, answer, RosterAnswer).rejected)
  if (rejected.length === 0) return undefined
  const lines = rejected.map(({ line }) => String(line))
  if (lines.length === 1)
    return `${file}: line ${lines[0]} is left out, all others are put: correct it and put the file again`
  const named = lines.length > MAX_NAMES ? [...lines.slice(0, MAX_NAMES - 1), 'others'] : lines
  return `${file}: lines ${listText(named)} are left out, all others are put: correct them and put the file again`
}

/** Whether the answer says what would be, or is. */
function isRoster({ status }: Answer): boolean {
  return status === 200 || status === 409
}

/** What is wrong with which lines, else with the whole. */
function refused(answer: Answer, { file }: Reported, where: string): string[] {
  const lines = errorsOf(answer).map(({ path, message }) => {
    const line = /^line (\d+)$/.exec(path)?.[1]
    return `${line === undefined ? (OPTIONS.get(path) ?? `${file}: ${path}`) : `${file}:${line}`}: ${message}`
  })
  return lines.length > 0 ? lines : [`${where}${refusalText(answer)}`]
}

/** What of the question an option says. */
const OPTIONS = new Map([
  ['company_id', '--company'],
  ['from', '--from'],
  ['until', '--until'],
])
