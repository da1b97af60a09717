import { isUtf8 } from 'node:buffer'
import { parseCsv } from '../../config/csv.ts'
import { locator, type Mistake } from '../../config/problem.ts'
import { type RouteFile, readTable } from '../../config/routes.ts'
import { isJson } from '../../tracking/body.ts'
import { ApiRefusal, refuseFields } from '../../tracking/refusal.ts'
import { MAX_LINES, readEntries } from './json.ts'

/** The lines that a body has. */
export interface RosterBody {
  readonly file: RouteFile
  /** The line, from 1, where something of the file is; in JSON, which entry. */
  readonly lineAt: (at: number) => number
}

/**
 * Reads a roster: CSV as routes.csv has it, or a JSON array of objects with its columns (also what `GET /admin/routes`
 * answers). A column that routes.csv does not have is refused: nobody would see a warning of it before the lines hold.
 * @throws ApiRefusal 422 where it is of no use as a whole, 415 for another content type.
 */
export async function readRosterBody(bytes: Buffer, contentType = 'text/csv', zone: string): Promise<RosterBody> {
  if (bytes.toString().trim() === '') throw new ApiRefusal(422, 'the body is empty: send a roster, a header at least')
  const body = isJson(contentType) ? await readJson(bytes, zone) : await readText(bytes, contentType, zone)
  const useless = body.file.mistakes.filter(({ severity }) => severity !== 'left_out')
  if (useless.length > 0)
    throw refuseFields(
      422,
      useless.map((mistake) => ({ path: `line ${body.lineAt(mistake.at)}`, message: said(mistake) })),
    )
  return body
}

/** A mistake with the column that it is about. */
export function said({ key, message }: Pick<Mistake, 'key' | 'message'>): string {
  return key === undefined ? message : `${key}: ${message}`
}

async function readText(bytes: Buffer, contentType: string, zone: string): Promise<RosterBody> {
  if (!TEXT_TYPE.test(contentType)) throw new ApiRefusal(415, 'send the roster as text/csv or application/json')
  if (!isUtf8(bytes)) throw new ApiRefusal(422, 'the body is not UTF-8: save the file as "CSV UTF-8"')
  const text = bytes.toString()
  if (text.split(LINE_END, MAX_LINES + 1).length > MAX_LINES)
    throw new ApiRefusal(422, `the body must have at most ${MAX_LINES} lines`)
  const locate = locator(text)
  const table = parseCsv(text) ?? { at: 0, columns: [], rows: [] }
  if (table.columns.length > MAX_COLUMNS)
    throw refuseFields(422, [{ path: `line ${locate(table.at).line}`, message: `more than ${MAX_COLUMNS} columns` }])
  return { file: await readTable(table, 'roster', zone), lineAt: (at) => locate(at).line }
}

async function readJson(bytes: Buffer, zone: string): Promise<RosterBody> {
  return { file: await readTable(await readEntries(bytes), 'roster', zone), lineAt: (at) => at }
}

/** With room for what spreadsheets leave empty behind the last one. */
const MAX_COLUMNS = 64
const LINE_END = /\r\n?|\n/
/** What programs call CSV; curl calls every body a form. */
const TEXT_TYPE =
  /^\s*(?:text\/[\w.+-]+|application\/(?:csv|vnd\.ms-excel|octet-stream|x-www-form-urlencoded))\s*(?:;|$)/i
