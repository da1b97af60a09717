import type { DevicesPutJson, DoubtJson } from '../admin/schemas/device-import.ts'
import type { DeviceChangeJson } from '../admin/schemas/roster.ts'
import type { StatusJson } from '../admin/schemas/status.ts'
import { SHEET_FIELDS } from '../config/device-sheet.ts'
import { nearest } from '../config/problem.ts'
import { clockIn } from '../domain/times.ts'
import { UserError } from '../errors.ts'
import { type AdminPort, type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { ask, jsonOf, readStatus, refusalOf } from './client.ts'
import { listText, printExact, printLines } from './output.ts'
import { confirmChange } from './question.ts'
import { readArgument } from './routes.ts'

export interface ImportOptions extends AdminPortOptions {
  readonly company?: string
  /** `FIELD=HEADER` */
  readonly column?: readonly string[]
  /** `LINE` or `LINE=ID` */
  readonly accept?: readonly string[]
  /** Puts it though devices lose their route. */
  readonly yes?: boolean
  /** Puts it even if most devices that have a route lose it. */
  readonly force?: boolean
  readonly json?: boolean
}

/** A list of vans. `name`: the file, or the server that it comes from. */
interface VanList {
  readonly name: string
  /** CSV, or a spreadsheet. */
  readonly body?: Buffer
  /** The list as objects, in place of a text. */
  readonly json?: unknown
}

/** The query of a request with a list. */
interface ListRequest extends Pick<VanList, 'body' | 'json'> {
  readonly admin: AdminPort
  readonly query: Readonly<Record<string, string>>
}

/** An answer; `isMost`: it was refused, since most devices would lose their route. */
interface ListAnswer {
  readonly list: DevicesPutJson
  readonly isMost: boolean
}

/**
 * `waybridge devices check` shows what a fleet's own list of vans would change; `devices put` puts it. @returns the exit
 * code: 1 if a line is skipped @throws UserError
 */
export async function importCommand(act: Act, file: string, options: ImportOptions): Promise<number> {
  return takeList(act, { name: file, body: await readArgument(file) }, options)
}

/** `import` shows what a list would change, and puts it once that is confirmed. */
type Act = 'check' | 'put' | 'import'

/** The same for a list that comes from elsewhere. @throws UserError */
export async function takeList(act: Act, { name: file, ...content }: VanList, options: ImportOptions): Promise<number> {
  const admin = await findAdminPort(options)
  const { companies, time_zone } = (await readStatus(admin)).status
  const company = options.company ?? onlyCompany(companies)
  const columns = columnsChosen(options.column ?? [])
  const query = { company_id: company, ...(options.column && { columns: JSON.stringify(columns) }) }
  const sending: ListRequest = { admin, ...content, query }
  const { trial, accept } = await tryList(file, sending, options.accept ?? [])
  const accepting = Object.keys(accept).length > 0 && { accept: JSON.stringify(accept) }
  const isLeftOut = trial.list.rejected.length + trial.list.doubtful.length > 0
  const context = { file, company, clock: clockIn(time_zone, Date.now(), 'minutes') }
  if (act === 'check') {
    if (options.json) printExact([JSON.stringify(trial.list, undefined, 2)])
    else printLines([...report(trial.list, context, 'would have'), ...changesText(trial.list), ...lossText(trial)])
    return isLeftOut || trial.isMost ? 1 : 0
  }
  if (act === 'import' && !options.json)
    printLines([...report(trial.list, context, 'would have'), ...changesText(trial.list)])
  else if (!options.json) printLines(report(trial.list, context))
  if (act === 'import' && !options.yes && !(await confirmChange('Put it?', 'add --yes to put it'))) return 1
  if (!(await mayTake(trial, options))) return 1
  const isForced = options.force || trial.isMost
  const done = await send({ ...sending, query: { ...query, ...accepting, ...(isForced && { force: 'true' }) } })
  if (done.isMost) throw new UserError('Other changes have taken routes meanwhile: nothing is put; try again.')
  if (options.json) printExact([JSON.stringify(done.list, undefined, 2)])
  else printLines([countsText(done.list, company, 'has'), ...undoText(done.list, company)])
  return isLeftOut ? 1 : 0
}

/**
 * Makes a dry run with all accepted ids. A line accepted without an id gets the proposed one, which an earlier dry run has to
 * return.
 */
async function tryList(file: string, sending: ListRequest, accepted: readonly string[]) {
  const given = accepted.map((text) => {
    const [, line, id] = /^(\d+)(?:=(.+))?$/s.exec(text) ?? []
    if (line === undefined) throw new UserError(`--accept ${text}: expected a line, or LINE=ID.`)
    return [line, id?.trim()] as const
  })
  const written = given.filter((each): each is readonly [string, string] => each[1] !== undefined)
  const dry = (accept: object) =>
    send({ ...sending, query: { ...sending.query, dry_run: 'true', accept: JSON.stringify(accept) } })
  const first = await dry(Object.fromEntries(written))
  if (written.length === given.length) return { trial: first, accept: Object.fromEntries(written) }
  const doubts = new Map(first.list.doubtful.map((doubt) => [String(doubt.line), doubt]))
  const all = given.map(([line, id]) => [line, id ?? idOf(doubts.get(line), `${file}:${line}`, line)])
  const accept = Object.fromEntries(all) as Record<string, string>
  return { trial: await dry(accept), accept }
}

function idOf(doubt: DoubtJson | undefined, place: string, line: string): string {
  if (!doubt) throw new UserError(`${place}: this line is not in doubt: leave --accept ${line} out.`)
  if (doubt.id === undefined) throw new UserError(`${place}: there is no id to accept: write --accept ${line}=ID.`)
  return doubt.id
}

async function send({ admin, ...content }: ListRequest): Promise<ListAnswer> {
  const answer = await ask(admin, { method: 'PUT', path: '/admin/devices', ...content })
  const list = jsonOf(answer) as DevicesPutJson | undefined
  if (answer.status !== 200 && !(answer.status === 409 && list?.columns)) throw refusalOf(answer)
  return { list: list as DevicesPutJson, isMost: answer.status === 409 }
}

/** @throws UserError if there are several companies, or none */
function onlyCompany(companies: StatusJson['companies']): string {
  if (companies.length === 1) return companies[0].company_id
  const known =
    companies.length === 0
      ? 'gateway.yaml has none yet'
      : `there are ${listText(companies.map((each) => each.company_id))}`
  throw new UserError(`Name the company of these vans with --company: ${known}.`)
}

/** Returns the chosen meaning of columns, by name. @throws UserError */
function columnsChosen(texts: readonly string[]): Record<string, string | null> {
  const chosen = texts.map((text) => {
    const at = text.indexOf('=')
    const field = text.slice(0, at)
    const isKnown = field === ASIDE || SHEET_FIELDS.some((each) => each === field)
    if (at > 0 && isKnown) return [text.slice(at + 1), field === ASIDE ? null : field] as const
    const like = nearest(field, SHEET_FIELDS)
    throw new UserError(
      `--column ${text}: expected FIELD=HEADER, where FIELD is ${[...SHEET_FIELDS, ASIDE].join(', ')}${like ? `: did you mean ${like}?` : '.'}`,
    )
  })
  return Object.fromEntries(chosen)
}

/** Whether the list may be put: no device loses its route, or an option or the user at the terminal allows it. */
async function mayTake(trial: ListAnswer, { yes, force }: ImportOptions): Promise<boolean> {
  const { takes = [] } = trial.list
  if (takes.length === 0 || force || (yes && !trial.isMost)) return true
  const [loss] = lossText(trial)
  return confirmChange(`${loss}. Put it?`, `${loss}; add ${trial.isMost ? '--force' : '--yes'} if it is meant`)
}

function lossText({ list: { takes = [] }, isMost }: ListAnswer): string[] {
  if (takes.length === 0) return []
  const names = listText([...new Set(takes.map(({ device, name = device }) => name))])
  return [`this takes the route from ${isMost ? 'most devices that have one: ' : ''}${names}`]
}

interface Context {
  readonly file: string
  readonly company: string
  /** An instant as local time. */
  readonly clock: (instant: string) => string
}

/** Prints the remarks about columns and lines; with `verb`, also how many devices change. */
function report(list: DevicesPutJson, { file, company, clock }: Context, verb?: string): string[] {
  const { columns, doubtful, notes = [], rejected, warnings = [] } = list
  const read = columns.flatMap(({ name, read_as }) => (read_as === null ? [] : `"${name}" as ${read_as}`))
  return [
    read.length > 0
      ? `${file}: read are ${read.join(', ')}`
      : `${file}: no column is recognised: write --column device=HEADER`,
    ...columns.flatMap(({ name, note }) => (note === undefined ? [] : `${file}: "${name}": ${note}`)),
    ...notes.map((note) => `${file}: ${note}`),
    ...rejected.map(({ line, message }) => `${file}:${line}: ${message}`),
    ...warnings.map(({ line, message }) => `warning: ${file}:${line}: ${message}`),
    ...doubtful.map((doubt) => `in doubt: ${file}:${doubt.line}: ${doubtText(doubt, clock)}`),
    ...(verb === undefined ? [] : [countsText(list, company, verb)]),
  ]
}

/** `a spreadsheet has rounded this id (3.54E+14); 354194110021196 has arrived: is it this van? Then --accept 21=354194110021196` */
function doubtText({ device = '', id, line, message, name, suggestions }: DoubtJson, clock: Context['clock']): string {
  const of = name === undefined ? device : `${name}: ${device}`
  const asked = suggestions.map(({ id: other, name: known, arrived_at }) => {
    const what = arrived_at === undefined ? `is ${known ?? 'configured'}` : `has arrived, last at ${clock(arrived_at)}`
    return `${other} ${what}: is it this van? Then --accept ${line}=${other}`
  })
  const otherwise =
    id === undefined ? `--accept ${line}=ID` : `if it is right --accept ${line}, else --accept ${line}=ID`
  return [`${message} (${of})`, ...asked, ...(asked.length > 0 && id === undefined ? [] : [otherwise])].join('; ')
}

function countsText(list: DevicesPutJson, company: string, verb: string): string {
  const { added, changed, doubtful, rejected, unchanged } = list
  const left = [
    ...(rejected.length > 0 ? [`${rejected.length} left out`] : []),
    ...(doubtful.length > 0 ? [`${doubtful.length} in doubt and left out`] : []),
  ]
  return `company ${company} ${verb}: ${[`${added} added`, `${changed} changed`, `${unchanged} as they were`, ...left].join(', ')}`
}

function changesText({ changes = [] }: DevicesPutJson): string[] {
  const shown = changes.slice(0, MOST_SHOWN).map((change) => `  ${changeText(change)}`)
  return changes.length > MOST_SHOWN
    ? [...shown, `  … and ${changes.length - MOST_SHOWN} more (--json has them)`]
    : shown
}

/** `Van 14 (356307042441014): name "B-WB 14" (was "Van 14")` */
function changeText({ device, name, before, after = {}, arrived_at }: DeviceChangeJson): string {
  const said = Object.entries(after).map(([key, text]) => {
    const old = before?.[key as keyof typeof before]
    return `${key} ${text}${old === undefined ? '' : ` (was ${old})`}`
  })
  const what = before ? [] : [arrived_at === undefined ? 'is added' : 'is added, and has arrived already']
  return `${name === undefined ? device : `${name} (${device})`}: ${[...what, ...said].join(', ')}`
}

function undoText({ put }: DevicesPutJson, company: string): string[] {
  return put === undefined ? [] : [`waybridge routes undo --company ${company} takes it back`]
}

/** In place of a field: the column is not read. */
const ASIDE = 'none'
const MOST_SHOWN = 20
