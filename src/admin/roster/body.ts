import { parseCsv, type Row } from '../../config/csv.ts'
import { keyedText, locator, type Mistake, nearest, unknownName } from '../../config/problem.ts'
import { COLUMNS, knownColumns, type RouteFile, readRouteTable, withoutRosterTitle } from '../../config/routes.ts'
import { ApiRefusal, MAX_ERRORS, refuseFields } from '../../http/refusal.ts'
import { joined, say } from '../../texts/text.ts'
import { isJson } from '../../tracking/body.ts'
import { csvText, entryRows, isObject, jsonEntries, MAX_COLUMNS, utf8Text } from '../list-body.ts'

export interface RosterBody {
  readonly file: RouteFile
  /** Returns the line, from 1, of a position in the file; for JSON, the number of the entry. */
  readonly lineAt: (at: number) => number
  /** Columns that are not read. */
  readonly aside: readonly Mistake[]
}

/**
 * Reads a roster: CSV with the columns of routes.csv, an .xlsx spreadsheet with such a sheet, or a JSON array of objects with
 * these columns, also as `GET /admin/routes` returns them. Refuses an unknown column, because a warning about it would come
 * too late, unless all known columns are present and the unknown name resembles none of them. @throws ApiRefusal 422 if
 * nothing of it can be used, 415 for another content type
 */
export async function readRosterBody(bytes: Buffer, contentType = 'text/csv', zone: string): Promise<RosterBody> {
  if (bytes.toString().trim() === '') throw new ApiRefusal(422, 'the body is empty: send a roster, a header at least')
  const body = await readAs(bytes, contentType, zone)
  const useless = body.file.mistakes.filter(
    ({ at, key, severity }) =>
      severity !== 'left_out' && !body.aside.some((each) => each.at === at && each.key === key),
  )
  if (useless.length > 0) throw refuseLines(useless, body)
  return body
}

async function readAs(bytes: Buffer, contentType: string, zone: string): Promise<RosterBody> {
  if (isJson(contentType)) return readJson(bytes, zone)
  return readText(await csvText(bytes, contentType, { name: 'roster', decode: utf8Text }), zone)
}

/** The refusal of a roster for mistakes in its lines. */
export function refuseLines(mistakes: readonly Mistake[], { lineAt }: RosterBody): ApiRefusal {
  const errors = mistakes
    .slice(0, MAX_ERRORS)
    .map((mistake) => ({ path: `line ${lineAt(mistake.at)}`, message: keyedText(mistake) }))
  return new ApiRefusal(422, joined([say('line {}', lineAt(mistakes[0].at)), errors[0].message], ': '), errors)
}

async function readText(text: string, zone: string): Promise<RosterBody> {
  const locate = locator(text)
  const table = parseCsv(withoutRosterTitle(text)) ?? { at: 0, columns: [], rows: [] }
  if (table.columns.length > MAX_COLUMNS)
    throw refuseFields(422, [{ path: `line ${locate(table.at).line}`, message: `more than ${MAX_COLUMNS} columns` }])
  return {
    file: await readRouteTable(table, 'roster', zone),
    lineAt: (at) => locate(at).line,
    aside: asideIn(table.columns).map((key) => ({ at: table.at, key, message: say('this column is not read') })),
  }
}

/** Returns the columns that do not belong to a roster; none if one of them may be a misspelt roster column. */
function asideIn(names: readonly string[]): string[] {
  const columns = knownColumns(names)
  const isThere = (column: string) => columns.includes(column)
  if (!['device', 'courier_id', 'route_id'].every(isThere)) return []
  if (!isThere('date') && !['from', 'until'].every(isThere)) return []
  return columns.filter((name) => name !== '' && !COLUMNS.includes(name) && nearest(name, COLUMNS) === undefined)
}

/** An array of objects with the columns of routes.csv, or all that `GET /admin/routes` answers, as the table of a CSV. */
async function readJson(bytes: Buffer, zone: string): Promise<RosterBody> {
  const entries = jsonEntries(bytes, 'routes.csv')
  refuseUnknown(entries)
  const rows = entryRows(entries, cellsOf)
  return {
    file: await readRouteTable({ at: 1, columns: COLUMNS, rows }, 'roster', zone),
    lineAt: (at) => at,
    aside: [],
  }
}

function refuseUnknown(entries: readonly unknown[]): void {
  const errors = entries.values().flatMap((entry, index) => {
    const unknown = Object.keys(isObject(entry) ? entry : {}).filter((key) => !KEYS.has(key))
    const path = `line ${index + 1}`
    return unknown.values().map((key) => ({ path, message: `${key}: ${unknownName('key', key, COLUMNS)}` }))
  })
  const first = errors.take(MAX_ERRORS).toArray()
  if (first.length > 0) throw refuseFields(422, first)
}

function cellsOf(entry: Readonly<Record<string, unknown>>): Pick<Row, 'cells' | 'mistake'> {
  const cells: string[] = []
  for (const column of COLUMNS) {
    const value = entry[column] ?? entry[`${column}_at`] ?? ''
    if (typeof value !== 'string') return { cells, mistake: `${column}: expected text` }
    cells.push(value.trim())
  }
  return { cells }
}

/** The columns, and the further keys of the lines that `GET /admin/routes` returns, so that these can be put again. */
const KEYS = new Set<string>([...COLUMNS, 'from_at', 'until_at', 'name', 'company_id', 'source'])
