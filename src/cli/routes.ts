import { readFile } from 'node:fs/promises'
import type { DeviceRowJson } from '../admin/schemas/devices.ts'
import { ConfigError, lineStarts, locator, problemsIn } from '../config/problem.ts'
import { type RouteFile, type RouteRow, readRoutes } from '../config/routes.ts'
import { isSpreadsheet, SpreadsheetError, spreadsheetText } from '../config/xlsx.ts'
import { sameId } from '../domain/ids.ts'
import { type DateOrder, type Interval, standardDate } from '../domain/times.ts'
import { UserError } from '../errors.ts'
import { type AdminPort, type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { ask, jsonOf, listDevices, readStatus } from './client.ts'
import { intervalsOf, intervalText } from './intervals.ts'
import { listText, printLines } from './output.ts'
import { confirm } from './question.ts'
import { isRedeliveryMeant, redeliverLines } from './redeliver.ts'
import { type IntervalResult, leftOutSentence, type ReportContext, report } from './routes-report.ts'

interface RoutesOptions extends AdminPortOptions {
  readonly company?: string
  readonly from?: string
  readonly until?: string
  /** Replaces lines of the devices in the file alone. */
  readonly onlyListed?: boolean
  /** Puts it though devices lose their route. */
  readonly yes?: boolean
  /** Puts the file even if more than half of the devices that have a route would lose it. */
  readonly force?: boolean
  /** Delivers what the lines concern of the past once more. */
  readonly redeliver?: boolean
}

/**
 * `waybridge routes check` shows what a file would change in a company's roster; `routes put` changes it. Each interval of
 * adjacent days on which lines begin is put separately; if there are several, none is put unless a dry run of all succeeds.
 * @returns the exit code: 1 if a line is skipped or an interval is refused @throws UserError
 */
export async function routesCommand(act: 'check' | 'put', file: string, options: RoutesOptions): Promise<number> {
  const bytes = await readRoster(file)
  const admin = await findAdminPort(options)
  const { time_zone: zone } = (await readStatus(admin)).status
  const source = { name: 'routes.csv', file, text: bytes.toString() }
  const read = await readRoutes(source, zone)
  const intervals = intervalsOf(read.rows, options, zone)
  if (intervals.length === 0 && read.mistakes.length > 0) throw new ConfigError(problemsIn(source, read.mistakes))
  if (intervals.length === 0)
    throw new UserError(`${file}: the file has no lines; give --from and --until of the lines to replace.`)
  const devices = await listDevices(admin)
  const company = options.company ?? companyOf(read.rows, devices)
  const parts =
    intervals.length === 1 ? [{ interval: intervals[0], body: bytes }] : partsOf(source.text, read, intervals)
  const context = { file, zone, company, devices, intervals }
  const query = { company_id: company, ...(options.onlyListed && { only_listed: 'true' }) }
  const trial: IntervalResult[] = []
  for (const part of parts) trial.push(await sendPart(part, admin, { ...query, dry_run: 'true' }))
  const isAccepted = trial.every(({ answer }) => answer.status === 200 || (act === 'put' && answer.status === 409))
  if (act === 'put' && isAccepted && (await mayTake(trial, options, context))) {
    const isForced = trial.some(({ answer }) => answer.status === 409) || options.force
    const redelivers = trial.map(({ roster }) => roster?.redeliver)
    printLines(redelivers.flatMap(redeliverLines))
    const isMeant = await isRedeliveryMeant(redelivers, options.redeliver)
    const asked = { ...query, ...(isForced && { force: 'true' }), ...(isMeant && { redeliver: 'true' }) }
    return putAll(parts, (part) => sendPart(part, admin, asked), context)
  }
  if (act === 'check' || !isAccepted) for (const result of trial) printLines(report(result, context))
  if (act === 'put' && (parts.length > 1 || isAccepted)) printLines(['nothing is put'])
  return act === 'check' && trial.every(({ answer, roster }) => answer.status === 200 && roster?.rejected.length === 0)
    ? 0
    : 1
}

/**
 * Resolves to whether the file may be put: no van loses its route, or an option or the user at the terminal allows it.
 * Otherwise prints what would change, which vans lose a route, and how to narrow the change.
 */
async function mayTake(
  trial: readonly IntervalResult[],
  options: RoutesOptions,
  context: ReportContext,
): Promise<boolean> {
  const takes = trial.flatMap(({ roster }) => roster?.takes ?? [])
  const isMost = trial.some(({ answer }) => answer.status === 409)
  if (options.force || (!isMost && (takes.length === 0 || options.yes))) return true
  for (const result of trial) printLines(report(result, context))
  const names = listText([...new Set(takes.map(({ device, name = device }) => name))])
  const loses = `this takes the route from ${isMost ? 'most vans that have one: ' : ''}${names}`
  const isMeant = await confirm(`Attention: ${loses}. Put it?`)
  if (isMeant === undefined)
    printLines([
      `${loses}: add --only-listed to leave the vans that are not in the file as they are, or --from and --until; ` +
        `add ${isMost ? '--force' : '--yes'} if it is meant`,
    ])
  return isMeant === true
}

/** Resolves to a roster as CSV bytes; a spreadsheet is converted. @throws UserError */
async function readRoster(file: string): Promise<Buffer> {
  const bytes = await readArgument(file)
  if (!isSpreadsheet(bytes)) return bytes
  const text = await spreadsheetText(bytes).catch((error: Error) => {
    throw error instanceof SpreadsheetError ? new UserError(`${file}: ${error.message}.`) : error
  })
  return Buffer.from(text)
}

/** The bytes of a file that an argument names. @throws UserError */
export function readArgument(file: string): Promise<Buffer> {
  return readFile(file).catch(({ code }: NodeJS.ErrnoException) => {
    throw new UserError(`${file}: ${code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`}.`)
  })
}

/**
 * Returns the company of a roster: that of its devices. If no device is known, the only company that has devices. @throws
 * UserError if several companies are possible, or none
 */
function companyOf(rows: readonly RouteRow[], devices: readonly DeviceRowJson[]): string {
  const meant = new Set(rows.flatMap(({ device }) => [device.toLowerCase(), sameId(device)]))
  const named = devices.filter(({ id, name = id }) => meant.has(sameId(id)) || meant.has(name.toLowerCase()))
  const [ofNamed, ofAll] = [named, devices].map((some) => new Set(some.flatMap(({ company_id }) => company_id ?? [])))
  const companies = [...(ofNamed.size > 0 ? ofNamed : ofAll)].toSorted((a, b) => Number(BigInt(a) - BigInt(b)))
  if (companies.length === 1) return companies[0]
  const known = companies.length === 0 ? 'no device is configured yet' : `there are ${listText(companies)}`
  throw new UserError(`Name the company of these routes with --company: ${known}.`)
}

/** The lines of a file that are put in one interval; in `body` they keep the line numbers of the file. */
interface FilePart {
  readonly interval: Interval
  readonly body: Buffer
}

/**
 * The text is divided by interval: each gets the lines that begin in it; the first one also gets the unreadable lines.
 */
function partsOf(text: string, { rows, mistakes, order }: RouteFile, intervals: readonly Interval[]): FilePart[] {
  const locate = locator(text)
  const starts = lineStarts(text)
  const unread = mistakes.filter(({ severity }) => severity === 'left_out').map(({ at }) => locate(at).line)
  return intervals.map((interval, index) => {
    const elsewhere = rows.filter(({ from }) => from < interval.from || from >= interval.until)
    const omitted = new Set([...(index === 0 ? [] : unread), ...elsewhere.map(({ line }) => line)])
    const lines = starts.map((start, at) => text.slice(start, starts[at + 1]))
    const left = lines.map((line, at) => (omitted.has(at + 1) ? /[\r\n]*$/.exec(line)![0] : line))
    return { interval, body: Buffer.from(withStandardDates(left.join(''), order)) }
  })
}

/** The line that shows the order of day and month may be in another part. */
function withStandardDates(text: string, order: DateOrder): string {
  if (order === undefined) return text
  return text.replace(CELL, (cell) => {
    const date = standardDate(cell.trimEnd(), order)
    return typeof date === 'string' ? date : cell
  })
}

/** A cell of a line that begins with a digit. */
const CELL = /(?<=(?:^|[,;\t]) *"?)\d[^,;\t"\r\n]*/gm

async function sendPart(
  { interval, body }: FilePart,
  admin: AdminPort,
  query: Readonly<Record<string, string>>,
): Promise<IntervalResult> {
  const [from, until] = [interval.from, interval.until].map((seconds) => new Date(seconds * 1000).toISOString())
  const answer = await ask(admin, { method: 'PUT', path: '/admin/routes', query: { ...query, from, until }, body })
  const hasRoster = answer.status === 200 || answer.status === 409
  const isPut = answer.status === 200 && query.dry_run === undefined
  return { interval, answer, isPut, roster: hasRoster ? jsonOf(answer) : undefined }
}

/** Puts each part and prints its report, until one is refused. @returns the exit code @throws UserError */
async function putAll(
  parts: readonly FilePart[],
  put: (part: FilePart) => Promise<IntervalResult>,
  context: ReportContext,
): Promise<number> {
  const results: IntervalResult[] = []
  const texts = parts.map(({ interval }) => intervalText(interval, context.zone))
  for (const [index, part] of parts.entries()) {
    const done = index === 0 ? 'nothing is put' : `put: ${listText(texts.slice(0, index))}`
    const left = listText(texts.slice(index))
    const result = await put(part).catch((error: Error) => {
      if (parts.length === 1 || !(error instanceof UserError)) throw error
      throw new UserError(`${error.message} ${done}; not put, or not known to be: ${left}`)
    })
    printLines(report(result, context))
    if (!result.isPut) {
      if (parts.length > 1) printLines([`${done}; not put: ${left}`])
      return 1
    }
    results.push(result)
  }
  const leftOut = leftOutSentence(results, context.file)
  if (leftOut !== undefined) printLines([leftOut])
  return leftOut === undefined ? 0 : 1
}
