import { isUtf8 } from 'node:buffer'
import type { Row, Table } from '../config/csv.ts'
import { locator, type Mistake } from '../config/problem.ts'
import { COLUMNS, readRoutes, readTable, type RouteFile } from '../config/routes.ts'
import { isJson, jsonText, parseJson } from '../tracking/body.ts'
import { Refusal, refuseFields } from '../tracking/refusal.ts'

/** The lines that a body has. */
export interface RosterBody {
  readonly file: RouteFile
  /** The line, from 1, where something of the file is; in JSON, which entry. */
  readonly lineAt: (at: number) => number
}

/**
 * Reads a roster: CSV as routes.csv has it, or a JSON array of objects with its columns (also what `GET /admin/routes`
 * answers). @throws Refusal 422 where it is of no use as a whole, 415 for another content type.
 */
export async function readRosterBody(bytes: Buffer, contentType = 'text/csv', zone: string): Promise<RosterBody> {
  if (bytes.toString().trim() === '') throw new Refusal(422, 'the body is empty: send a roster, a header at least')
  const body = isJson(contentType) ? await readJson(bytes, zone) : await readText(bytes, contentType, zone)
  const useless = body.file.mistakes.filter(({ severity }) => severity === undefined)
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
  if (!TEXT_TYPE.test(contentType)) throw new Refusal(415, 'send the roster as text/csv or application/json')
  if (!isUtf8(bytes)) throw new Refusal(422, 'the body is not UTF-8: save the file as "CSV UTF-8"')
  const text = bytes.toString()
  const locate = locator(text)
  return { file: await readRoutes({ name: 'roster', text }, zone), lineAt: (at) => locate(at).line }
}

async function readJson(bytes: Buffer, zone: string): Promise<RosterBody> {
  const parsed = parseJson(jsonText(bytes), digits)
  const entries = (parsed as { results?: unknown } | null)?.results ?? parsed
  if (!Array.isArray(entries)) throw new Refusal(422, 'expected an array of objects with the columns of routes.csv')
  const table: Table = { at: 1, columns: COLUMNS, rows: entries.map(rowOf) }
  return { file: await readTable(table, 'roster', zone), lineAt: (at) => at }
}

/** Numbers as they are written: ids may have more digits than a number. */
function digits(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? context?.source : value
}

function rowOf(entry: unknown, index: number): Row {
  const fields = new Map(Object.entries(entry ?? {}))
  const values = COLUMNS.map((column) => fields.get(column) ?? fields.get(`${column}_at`) ?? '')
  const wrong = COLUMNS.find((_, column) => typeof values[column] !== 'string')
  const mistake = wrong && `${wrong}: expected text`
  return { at: index + 1, line: index + 1, cells: values.map((value) => String(value).trim()), mistake }
}

/** What programs call CSV; curl calls every body a form. */
const TEXT_TYPE =
  /^\s*(?:text\/[\w.+-]+|application\/(?:csv|vnd\.ms-excel|octet-stream|x-www-form-urlencoded))\s*(?:;|$)/i
