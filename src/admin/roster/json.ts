import { yieldToEventLoop } from '../../async.ts'
import type { Row, Table } from '../../config/csv.ts'
import { unknownName } from '../../config/problem.ts'
import { COLUMNS } from '../../config/routes.ts'
import { jsonText, parseJson } from '../../tracking/body.ts'
import { ApiRefusal, refuseFields } from '../../tracking/refusal.ts'
import { MAX_ERRORS } from '../../tracking/schemas/fields.ts'

/** Most lines of a roster, more than a body of short ones has; what comes in is read while others wait. */
export const MAX_LINES = 200_000

/**
 * A roster in JSON as the table that it would be in CSV: an array of objects with the columns of routes.csv, or all that
 * `GET /admin/routes` answers. @throws ApiRefusal 422 where it is neither, a page of an answer, or has a key that nobody reads
 */
export async function readEntries(bytes: Buffer): Promise<Table> {
  const text = jsonText(bytes)
  refuseUnknown(entriesOf(parseJson(text)))
  const entries = entriesOf(parseJson(await withDigits(text)))
  return { at: 1, columns: COLUMNS, rows: rowsOf(entries) }
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
  const unknown = entries.values().flatMap((entry, index) => {
    const keys = isObject(entry) ? Object.keys(entry).filter((key) => !KEYS.has(key)) : []
    return keys.slice(0, MAX_ERRORS).map((key) => ({ path: `line ${index + 1}`, key }))
  })
  const errors = unknown
    .take(MAX_ERRORS)
    .map(({ path, key }) => ({ path, message: `${key}: ${unknownName('key', key, COLUMNS)}` }))
    .toArray()
  if (errors.length > 0) throw refuseFields(422, errors)
}

/** JSON with its numbers as text, as they are written: ids may have more digits than a number. */
async function withDigits(json: string): Promise<string> {
  await yieldToEventLoop()
  const parts: string[] = []
  let at = 0
  for (const { 0: found, index } of json.matchAll(TEXT_OR_NUMBER)) {
    await yieldToEventLoop()
    if (found.startsWith('"')) continue
    parts.push(json.slice(at, index), `"${found}"`)
    at = index + found.length
  }
  return parts.join('') + json.slice(at)
}

function* rowsOf(entries: readonly unknown[]): Generator<Row> {
  for (const [index, entry] of entries.entries()) {
    const read = isObject(entry) ? cellsOf(entry) : { cells: [], mistake: 'expected an object' }
    yield { at: index + 1, line: index + 1, ...read }
  }
}

function isObject(entry: unknown): entry is Readonly<Record<string, unknown>> {
  return typeof entry === 'object' && entry !== null && !Array.isArray(entry)
}

function cellsOf(entry: Readonly<Record<string, unknown>>): Pick<Row, 'cells' | 'mistake'> {
  const cells: string[] = []
  for (const column of COLUMNS) {
    const value = entry[column] ?? entry[`${column}_at`] ?? ''
    if (typeof value !== 'string') return { cells, mistake: `${column}: expected text` }
    if (value.length > MAX_LENGTH) return { cells, mistake: `${column}: longer than ${MAX_LENGTH} characters` }
    cells.push(value.trim())
  }
  return { cells }
}

/** Columns, and what `GET /admin/routes` answers in place of them and beside them. */
const KEYS: ReadonlySet<string> = new Set([...COLUMNS, 'from_at', 'until_at', 'name', 'company_id', 'source'])
/** Of a cell. */
const MAX_LENGTH = 1024
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs
