import { isUtf8 } from 'node:buffer'
import type { Row } from '../config/csv.ts'
import { isSpreadsheet, SpreadsheetError, spreadsheetText } from '../config/xlsx.ts'
import { ApiRefusal } from '../http/refusal.ts'
import { say } from '../texts/text.ts'
import { jsonText, parseJson } from '../tracking/body.ts'

/**
 * Returns the CSV text of a body: a text unchanged, an .xlsx spreadsheet as its first sheet. `name`: what the body is, for
 * errors; `decode`: decodes bytes to text. @throws ApiRefusal 415 for another content type, 422 for a body that cannot be
 * read
 */
export async function csvText(
  bytes: Buffer,
  contentType: string,
  { name, decode }: { readonly name: string; readonly decode: (bytes: Buffer) => string },
): Promise<string> {
  if (SHEET_TYPE.test(contentType) || isSpreadsheet(bytes)) {
    return spreadsheetText(bytes).catch((error: Error) => {
      throw error instanceof SpreadsheetError ? new ApiRefusal(422, error.text) : error
    })
  }
  if (!TEXT_TYPE.test(contentType))
    throw new ApiRefusal(415, `send the ${name} as text/csv, as an .xlsx spreadsheet, or as application/json`)
  const text = decode(bytes)
  if (text.split(LINE_END, MAX_LINES + 1).length > MAX_LINES)
    throw new ApiRefusal(422, `the body must have at most ${MAX_LINES} lines`)
  return text
}

/** The text of UTF-8. @throws ApiRefusal 422 */
export function utf8Text(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString()
  throw new ApiRefusal(422, say('the body is not UTF-8: save the file as "CSV UTF-8"'))
}

/**
 * Returns the entries of a JSON array, or of a complete list that this port answered; numbers become texts. `file`: the file
 * whose columns the entries have. @throws ApiRefusal 422
 */
export function jsonEntries(bytes: Buffer, file: string): readonly unknown[] {
  const body = parseJson(jsonText(bytes), asWritten)
  const { results, next_page_token } = (body ?? {}) as { results?: unknown; next_page_token?: unknown }
  if (next_page_token !== undefined && next_page_token !== null)
    throw new ApiRefusal(
      422,
      'this is one page of the list: send the results of all its pages at once, without next_page_token',
    )
  const entries = results ?? body
  if (!Array.isArray(entries)) throw new ApiRefusal(422, `expected an array of objects with the columns of ${file}`)
  if (entries.length > MAX_LINES) throw new ApiRefusal(422, `the body must have at most ${MAX_LINES} entries`)
  return entries
}

/** Returns entries as the rows of a table; `cellsOf`: returns the cells of an object, or its mistake. */
export function entryRows(
  entries: readonly unknown[],
  cellsOf: (entry: Readonly<Record<string, unknown>>) => Pick<Row, 'cells' | 'mistake'>,
): Row[] {
  return entries.map((entry, index) => {
    const read = isObject(entry) ? cellsOf(entry) : { cells: [], mistake: 'expected an object' }
    return { at: index + 1, line: index + 1, ...read }
  })
}

export function isObject(entry: unknown): entry is Readonly<Record<string, unknown>> {
  return typeof entry === 'object' && entry !== null && !Array.isArray(entry)
}

/** Returns a number as its source text, because ids may have more digits than a number. */
export function asWritten(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === 'number' ? source : value
}

/** The content type of .xlsx. */
export const SHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
/** Spreadsheets add empty cells after the last column, so more columns are allowed than the file has. */
export const MAX_COLUMNS = 64
/** More lines than fit into the largest body, unless they are very short. */
const MAX_LINES = 200_000
const LINE_END = /\r\n?|\n/
/** .xlsx, and .xlsm, which is refused for its macros. */
const SHEET_TYPE = /^\s*application\/vnd\.(?:openxmlformats-officedocument\.spreadsheetml|ms-excel\.sheet)\b/i
/** Content types that programs use for CSV; curl declares every body as a form. */
const TEXT_TYPE =
  /^\s*(?:text\/[\w.+-]+|application\/(?:csv|vnd\.ms-excel|octet-stream|x-www-form-urlencoded))\s*(?:;|$)/i
