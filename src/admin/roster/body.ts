import { isUtf8 } from 'node:buffer'
import { parseCsv, type Row } from '../../config/csv.ts'
import { keyedText, locator, type Mistake, unknownName } from '../../config/problem.ts'
import { COLUMNS, type RouteFile, readRouteTable } from '../../config/routes.ts'
import { isSpreadsheet, SpreadsheetError, spreadsheetText } from '../../config/xlsx.ts'
import { ApiRefusal, MAX_ERRORS, refuseFields } from '../../http/refusal.ts'
import { joined, say } from '../../texts/text.ts'
import { isJson, jsonText, parseJson } from '../../tracking/body.ts'

export interface RosterBody {
  readonly file: RouteFile
  /** The line, from 1, where something of the file is; in JSON, which entry. */
  readonly lineAt: (at: number) => number
}

/**
 * Reads a roster: CSV as routes.csv has it, an .xlsx spreadsheet with such a sheet, or a JSON array of objects with its
 * columns, also as `GET /admin/routes` returns them. A column that routes.csv does not have is refused: a warning of it
 * would be read too late.
 * @throws ApiRefusal 422 if nothing of it can be used, 415 for another content type
 */
export async function readRosterBody(bytes: Buffer, contentType = 'text/csv', zone: string): Promise<RosterBody> {
  if (bytes.toString().trim() === '') throw new ApiRefusal(422, 'the body is empty: send a roster, a header at least')
  const body = await readAs(bytes, contentType, zone)
  const useless = body.file.mistakes.filter(({ severity }) => severity !== 'left_out')
  if (useless.length > 0) throw refuseLines(useless, body)
  return body
}

function readAs(bytes: Buffer, contentType: string, zone: string): Promise<RosterBody> {
  if (isJson(contentType)) return readJson(bytes, zone)
  return SHEET_TYPE.test(contentType) || isSpreadsheet(bytes)
    ? readSheet(bytes, zone)
    : readText(bytes, contentType, zone)
}

async function readSheet(bytes: Buffer, zone: string): Promise<RosterBody> {
  const text = await spreadsheetText(bytes).catch((error: Error) => {
    throw error instanceof SpreadsheetError ? new ApiRefusal(422, error.text) : error
  })
  return readText(Buffer.from(text), 'text/csv', zone)
}

/** The refusal of a roster for mistakes in its lines. */
export function refuseLines(mistakes: readonly Mistake[], { lineAt }: RosterBody): ApiRefusal {
  const errors = mistakes
    .slice(0, MAX_ERRORS)
    .map((mistake) => ({ path: `line ${lineAt(mistake.at)}`, message: keyedText(mistake) }))
  return new ApiRefusal(422, joined([say('line {}', lineAt(mistakes[0].at)), errors[0].message], ': '), errors)
}

async function readText(bytes: Buffer, contentType: string, zone: string): Promise<RosterBody> {
  if (!TEXT_TYPE.test(contentType))
    throw new ApiRefusal(415, 'send the roster as text/csv, as an .xlsx spreadsheet, or as application/json')
  if (!isUtf8(bytes)) throw new ApiRefusal(422, say('the body is not UTF-8: save the file as "CSV UTF-8"'))
  const text = bytes.toString()
  if (text.split(LINE_END, MAX_LINES + 1).length > MAX_LINES)
    throw new ApiRefusal(422, `the body must have at most ${MAX_LINES} lines`)
  const locate = locator(text)
  const table = parseCsv(text) ?? { at: 0, columns: [], rows: [] }
  if (table.columns.length > MAX_COLUMNS)
    throw refuseFields(422, [{ path: `line ${locate(table.at).line}`, message: `more than ${MAX_COLUMNS} columns` }])
  return { file: await readRouteTable(table, 'roster', zone), lineAt: (at) => locate(at).line }
}

/** An array of objects with the columns of routes.csv, or all that `GET /admin/routes` answers, as the table of a CSV. */
async function readJson(bytes: Buffer, zone: string): Promise<RosterBody> {
  const entries = entriesOf(parseJson(jsonText(bytes), asWritten))
  refuseUnknown(entries)
  const rows = entries.map((entry, index) => {
    const read = isObject(entry) ? cellsOf(entry) : { cells: [], mistake: 'expected an object' }
    return { at: index + 1, line: index + 1, ...read }
  })
  return { file: await readRouteTable({ at: 1, columns: COLUMNS, rows }, 'roster', zone), lineAt: (at) => at }
}

/** A number as its text: ids may have more digits than a number. */
function asWritten(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === 'number' ? source : value
}

function entriesOf(body: unknown): readonly unknown[] {
  const { results, next_page_token } = (body ?? {}) as { results?: unknown; next_page_token?: unknown }
  if (next_page_token !== undefined && next_page_token !== null)
    throw new ApiRefusal(
      422,
      'this is one page of the list: send the results of all its pages at once, without next_page_token',
    )
  const entries = results ?? body
  if (!Array.isArray(entries)) throw new ApiRefusal(422, 'expected an array of objects with the columns of routes.csv')
  if (entries.length > MAX_LINES) throw new ApiRefusal(422, `the body must have at most ${MAX_LINES} entries`)
  return entries
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

function isObject(entry: unknown): entry is Readonly<Record<string, unknown>> {
  return typeof entry === 'object' && entry !== null && !Array.isArray(entry)
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
/** More lines than fit into the largest body, unless they are very short. */
const MAX_LINES = 200_000
/** Spreadsheets write empty cells behind the last column: leave room for them. */
const MAX_COLUMNS = 64
const LINE_END = /\r\n?|\n/
/** .xlsx, and .xlsm, which is refused for its macros. */
const SHEET_TYPE = /^\s*application\/vnd\.(?:openxmlformats-officedocument\.spreadsheetml|ms-excel\.sheet)\b/i
/** What programs call CSV; curl calls every body a form. */
const TEXT_TYPE =
  /^\s*(?:text\/[\w.+-]+|application\/(?:csv|vnd\.ms-excel|octet-stream|x-www-form-urlencoded))\s*(?:;|$)/i
