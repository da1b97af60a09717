import { isUtf8 } from 'node:buffer'
import * as z from 'zod'
import {
  type ColumnChoice,
  type DeviceSheet,
  readDeviceSheet,
  readDeviceTable,
  SHEET_FIELDS,
} from '../../config/device-sheet.ts'
import { ApiRefusal, parse } from '../../http/refusal.ts'
import { keptPut, type RosterRemark } from '../../roster/puts.ts'
import type { Roster } from '../../roster/roster.ts'
import { sameId } from '../../domain/ids.ts'
import { surveyArrivals } from '../../store/arrivals.ts'
import type { Store } from '../../store/index.ts'
import type { WithTexts } from '../../texts/language.ts'
import { say, type Text } from '../../texts/text.ts'
import { isJson } from '../../tracking/body.ts'
import { Id } from '../../tracking/schemas.ts'
import { instant } from '../json.ts'
import { csvText, entryRows, isObject, jsonEntries, MAX_COLUMNS, SHEET } from '../list-body.ts'
import type { Operation } from '../operation.ts'
import { entryChange, MOST_CHANGES, putResult, takenJson } from '../roster/answer.ts'
import { effectOnDevices } from '../roster/plan.ts'
import { closedQuery, Flag, onceText } from '../schemas/parts.ts'
import { type RosterSources, type RosterWrites, refuseCompany } from '../roster/writes.ts'
import { DevicesPutJson } from '../schemas/device-import.ts'
import { type Arrived, type ImportPlan, planImport } from './import-plan.ts'
import { readRequestBody } from '../access.ts'

/**
 * `PUT /admin/devices`: imports a fleet's own list of vans. Adds or changes the entries in the list, and keeps all others.
 * Skips a line with a mistake, and a line with a doubtful id unless `accept` has an id for it.
 */
export function importOperation({ redis, live }: RosterSources, change: RosterWrites): Operation {
  const handle: Operation['handle'] = async (request, reply, scope) => {
    const { company_id, dry_run, force, columns, accept } = parse(PutQuery, request.query)
    refuseCompany(live, company_id, scope)
    const bytes = await readRequestBody(request)
    const { sheet, notes } = await readList(bytes, request.headers['content-type'], columns)
    refuseUseless({ sheet, accepted: accept, isDryRun: dry_run === 'true' })
    const outcome = await change(async (roster) => {
      const arrived = scope.isAll ? await arrivalsIn(redis, roster) : new Map<string, Arrived>()
      const plan = await planImport(roster, { sheet, company_id, accepted: accept, arrived })
      const asked = { ...ALWAYS, company_id, now: Date.now() }
      const { devices, takes, loss } = await effectOnDevices({ devices: plan.devices }, roster, asked)
      const answer = {
        ...putJson(plan, sheet, dry_run === 'true'),
        ...(notes.length > 0 && { notes }),
        ...(takes.length > 0 && { takes: takes.map(takenJson) }),
        devices: devices.length,
      } satisfies WithTexts<DevicesPutJson>
      if (loss && force !== 'true') return { status: 409, answer: { message: say(LOSS, loss), ...answer } }
      if (dry_run === 'true') return { status: 200, answer }
      const { added, changed, rejected, doubtful } = answer
      const summary = { added, changed, rejected: rejected.length, doubtful: doubtful.length }
      if (plan.devices.length === 0) return { status: 200, answer, summary }
      const remarks = {
        ...answer,
        rejected: [...rejected, ...doubtful.map(({ line, device, message }) => ({ line, device, message }))],
      }
      const result = putResult(remarks, { writer: request.caller?.label ?? '', company_id, list: 'devices' })
      const put = await keptPut(result, { ...ALWAYS, change: [], devices: plan.devices, roster })
      return { status: 200, answer, write: { devices: plan.devices, put }, summary }
    })
    const { status, answer, summary, version } = outcome
    request.audit = summary
    return reply.code(status).send({ ...answer, put: version === undefined ? undefined : String(version) })
  }
  return {
    method: 'PUT',
    path: '/admin/devices',
    id: 'putDevices',
    summary: "Add or change a company's devices by a list of vans, in any order of columns; others stay as they are",
    query: PutQuery,
    body: z.unknown().meta({ description: BODY }),
    bodyTypes: ['text/csv', 'application/json', SHEET],
    answer: DevicesPutJson,
    refusals: [404, 409, 415, 504],
    companies: 'filtered',
    handle,
  }
}

/** Returns the list in a body, with remarks on how it was read. @throws ApiRefusal 415, 422 */
async function readList(
  bytes: Buffer,
  contentType = 'text/csv',
  chosen: ColumnChoice,
): Promise<{ readonly sheet: DeviceSheet; readonly notes: readonly Text[] }> {
  if (isJson(contentType)) return { sheet: await readJson(bytes, chosen), notes: [] }
  const notes: Text[] = []
  const decode = (content: Buffer) => {
    if (isUtf8(content)) return content.toString()
    const isUtf16 = content.length > 1 && content[0] === 0xff && content[1] === 0xfe
    if (!isUtf16) notes.push(say('the file is not UTF-8: it is read as Windows-1252; look at names with accents'))
    return new TextDecoder(isUtf16 ? 'utf-16le' : 'windows-1252').decode(content)
  }
  const text = await csvText(bytes, contentType, { name: 'list of vans', decode })
  const sheet = await readDeviceSheet(text, chosen)
  if (sheet.columns.length > MAX_COLUMNS) throw new ApiRefusal(422, `more than ${MAX_COLUMNS} columns`)
  return { sheet, notes }
}

/** Reads objects whose keys are the columns; ignores values that are neither texts nor numbers. */
function readJson(bytes: Buffer, chosen: ColumnChoice): Promise<DeviceSheet> {
  const entries = jsonEntries(bytes, 'devices.csv')
  const hasText = (key: string) => entries.some((entry) => isObject(entry) && typeof entry[key] === 'string')
  const keys = [...new Set(entries.flatMap((entry) => (isObject(entry) ? Object.keys(entry) : [])))].filter(hasText)
  const rows = entryRows(entries, (entry) => ({
    cells: keys.map((key) => (typeof entry[key] === 'string' ? entry[key].trim() : '')),
  }))
  return readDeviceTable({ at: 1, columns: keys.map((key) => key.toLowerCase()), rows }, chosen)
}

interface ReadList {
  readonly sheet: DeviceSheet
  readonly accepted: ReadonlyMap<number, string>
  readonly isDryRun: boolean
}

/** @throws ApiRefusal 422 for a list without ids, except in a dry run, which shows its columns; for an accepted line that it does not have */
function refuseUseless({ sheet, accepted, isDryRun }: ReadList): void {
  const { columns, rejected, rows } = sheet
  if (columns.length === 0) throw new ApiRefusal(422, rejected[0]?.message ?? say('the list is empty'))
  if (!isDryRun && !columns.some(({ read_as }) => read_as === 'device'))
    throw new ApiRefusal(422, say('no column is recognised as the ids of the trackers: choose it by hand'))
  const lines = new Set(rows.map(({ line }) => line))
  const unknown = accepted.keys().find((line) => !lines.has(line))
  if (unknown !== undefined) throw new ApiRefusal(422, say('accept: line {} has no id of a device', unknown))
}

/** Resolves to the unconfigured devices that have arrived, by id without leading zeros. */
async function arrivalsIn(redis: Store, roster: Roster): Promise<Map<string, Arrived>> {
  const isConfigured = (device: string) => roster.find(device) !== undefined
  const isWanted = ({ device }: { readonly device?: string }) => device !== undefined && !isConfigured(device)
  const arrivals = await surveyArrivals(redis, isConfigured, isWanted)
  return new Map(arrivals.flatMap(({ device, at }) => (device === undefined ? [] : [[sameId(device), { device, at }]])))
}

function putJson(plan: ImportPlan, { columns, rejected: unread }: DeviceSheet, isDryRun: boolean) {
  const { added, changing, doubtful, unchanged } = plan
  const [rejected, warnings] = [plan.rejected, plan.warnings].map((remarks) =>
    remarks.map(({ row, message }) => ({ line: row.line, device: row.given, message })),
  )
  return {
    added,
    changed: changing.length - added,
    unchanged,
    columns: columns.filter(({ name }) => name !== ''),
    rejected: inOrder([...unread, ...rejected]),
    doubtful: doubtful.map(({ row, id, message, suggestions }) => ({
      line: row.line,
      device: row.given,
      message,
      id,
      name: row.cells.get('name'),
      suggestions: suggestions.map(({ arrivedAt, ...device }) => ({ ...device, arrived_at: instant(arrivedAt) })),
    })),
    ...(warnings.length > 0 && { warnings: inOrder(warnings) }),
    ...(isDryRun && {
      changes: changing.slice(0, MOST_CHANGES).map(({ row, before, device, arrivedAt }) => ({
        line: row.line,
        ...entryChange(before, device),
        arrived_at: instant(arrivedAt),
      })),
    }),
  }
}

function inOrder(lines: readonly RosterRemark[]): RosterRemark[] {
  return lines.toSorted((one, other) => one.line - other.line)
}

/** An object in a parameter, as JSON. */
function objectText<Of extends z.ZodType>(meaning: string, of: Of) {
  return z
    .string(`needed once: ${meaning}`)
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text)
      } catch {
        context.addIssue({ code: 'custom', message: `expected JSON: ${meaning}` })
        return z.NEVER
      }
    })
    .pipe(of)
}

const COLUMNS_MEAN = 'an object of column names and what each is read as, or null'
const ACCEPT_MEANS = 'an object of line numbers and ids'
const PutQuery = closedQuery({
  company_id: onceText('the company whose vans these are').pipe(Id),
  dry_run: Flag,
  force: Flag,
  columns: objectText(COLUMNS_MEAN, z.record(z.string(), z.enum(SHEET_FIELDS).nullable(), `expected ${COLUMNS_MEAN}`))
    .transform((chosen) => new Map(Object.entries(chosen).map(([name, field]) => [name.trim().toLowerCase(), field])))
    .default(new Map()),
  accept: objectText(ACCEPT_MEANS, z.record(z.string().regex(/^[1-9]\d*$/), z.string(), `expected ${ACCEPT_MEANS}`))
    .transform((ids) => new Map(Object.entries(ids).map(([line, id]) => [Number(line), id.trim()])))
    .default(new Map()),
})

const BODY =
  'A list of vans as CSV in any order of columns, a spreadsheet (.xlsx) with such a sheet, or a JSON array of objects.'
const LOSS = 'this takes the route from {}: nothing is changed; send it with force=true if it is meant'
const ALWAYS = { from: 0, until: Infinity }
