import { yieldToEventLoop } from '../async.ts'
import { parseCsv, type Row, type Table } from './csv.ts'
import { takeFlowLines } from './flow-lines.ts'
import { unknownKey } from './leaves.ts'
import { child, type Entry, type Leaf, type Mapping, type Node, pathText, valueOf } from './node.ts'
import { locator, type Mistake, type Source } from './problem.ts'
import { isZone } from './times.ts'
import { int64, int64Mistake, isScientific } from './units.ts'
import { parseYaml, repeatedKeys, resolveReference, withoutEchoes } from './yaml.ts'

/** One entry of devices.yaml or devices.csv; other ids than its own are canonical digits. */
export interface Device {
  /** As it is written, with its leading zeros. */
  readonly id: string
  readonly name?: string
  readonly company_id: string
  /** For fixes that no line of routes.csv covers; so is `route_id`. */
  readonly courier_id?: string
  readonly route_id?: string
  /** IANA name or offset; only of a device that reports local time. */
  readonly time_zone?: string
  /** The password that the device must present. */
  readonly secret?: string
  /** In place of `secret`, of a device in the roster: see secret.ts. */
  readonly secretDigest?: string
  readonly model?: string
  readonly settings?: Readonly<Record<string, unknown>>
  /** Where it was written: `devices.yaml:3`, `admin 2026-11-20T08:00:00Z`. */
  readonly source: string
}

/** The keys of an entry, as config/README.md describes them. */
export const DEVICE_KEYS = {
  company_id: 'Required. A company of `gateway.yaml`.',
  name: 'Name for people and for routes files. Two trackers of one van may share it.',
  courier_id: 'Courier of fixes that no line of a routes file covers.',
  route_id: 'Route of fixes that no line of a routes file covers.',
  time_zone: 'Zone of a tracker that reports local time: an IANA name or an offset.',
  secret: 'What the tracker must present: MQTT and OwnTracks password, OsmAnd `token=`.',
  model: 'Model of the tracker, where its protocol needs it.',
  settings: 'Mapping of further settings, where its protocol needs them.',
} satisfies Partial<Record<keyof Device, string>>

/** The devices of one file. */
export interface DeviceFile {
  readonly devices: readonly PlacedDevice[]
  readonly mistakes: readonly Mistake[]
}

/** A device with the offsets of its id, its company and its name. */
export interface PlacedDevice {
  readonly device: Device
  readonly at: number
  readonly companyAt: number
  readonly nameAt: number
}

/** Reads devices.yaml, or devices.csv with the same names as columns. */
export async function readDevices({ name, text }: Source): Promise<DeviceFile> {
  const locate = locator(text)
  const meaning: Mistake[] = []
  const devices: PlacedDevice[] = []
  const take = (entry: Entry) => {
    const device = readDeviceEntry(entry, `${name}:${locate(entry.keyAt).line}`, meaning)
    if (device) devices.push(device)
  }
  const mistakes = await (name.endsWith('.csv') ? readCsv(text, take) : readYaml(text, take))
  return { devices: devices.toSorted((a, b) => a.at - b.at), mistakes: withoutEchoes(mistakes, meaning) }
}

async function readYaml(text: string, take: (entry: Entry) => void): Promise<Mistake[]> {
  const { root, mistakes } = parseYaml(await takeFlowLines(text, take))
  if (!root) return mistakes
  if (root.kind !== 'mapping') return [...mistakes, { at: root.at, message: 'expected a mapping of device ids' }]
  for (const entry of root.entries) take(entry)
  // fleetMistakes finds repeated ids, as it compares all files, and ids without their leading zeros.
  return [...mistakes, ...root.entries.flatMap(({ key, value }) => repeatedKeys(value, [key]))]
}

async function readCsv(text: string, take: (entry: Entry) => void): Promise<Mistake[]> {
  const table = parseCsv(text)
  if (!table) return []
  const mistakes = columnMistakes(table)
  if (mistakes.length > 0) return mistakes
  for (const row of table.rows) {
    await yieldToEventLoop()
    if (row.mistake === undefined) take(rowEntry(row, table.columns, mistakes))
    else mistakes.push({ at: row.at, message: row.mistake })
  }
  return mistakes
}

function columnMistakes({ at, columns, mistake }: Table): Mistake[] {
  if (mistake !== undefined) return [{ at, message: mistake }]
  const known = ['device', ...FIELDS.keys()]
  const unknown = columns.filter((name) => !known.includes(name))
  const repeated = columns.filter((name, index) => columns.indexOf(name) !== index)
  const missing = ['device', 'company_id'].filter((name) => !columns.includes(name))
  return [
    ...unknown.map((key) => ({ at, key, message: unknownKey(['devices', key], known, 'column') })),
    ...repeated.map((key) => ({ at, key, message: 'this column occurs twice' })),
    ...missing.map((key) => ({ at, key, message: 'this column is missing' })),
  ]
}

function rowEntry({ at, cells }: Row, columns: readonly string[], mistakes: Mistake[]): Entry {
  const id = cells[columns.indexOf('device')]
  const entries = columns.flatMap((column, index): Entry[] => {
    if (column === 'device' || cells[index] === '') return []
    const resolved = resolveReference(cells[index])
    if ('mistake' in resolved) mistakes.push({ at, key: pathText([id, column]), message: resolved.mistake })
    return 'text' in resolved ? [{ key: column, keyAt: at, value: cellNode(column, resolved.text, at) }] : []
  })
  return { key: id, keyAt: at, value: { kind: 'mapping', at, entries } }
}

/** A cell of the column `settings` is a mapping in one line of YAML or JSON. */
function cellNode(column: string, text: string, at: number): Node {
  const mapping = column === 'settings' ? parseYaml(text).root : undefined
  return mapping ?? { kind: 'leaf', at, text, quoted: true }
}

/** Reads an entry that was found at `source`; undefined where it has mistakes, which are added to `mistakes`. */
export function readDeviceEntry(
  { key: id, keyAt: at, value: node }: Entry,
  source: string,
  mistakes: Mistake[],
): PlacedDevice | undefined {
  const found = mistakesOfId(id, at)
  const fields = node.kind === 'mapping' ? readFields(node, id, found) : {}
  const company = child(node, 'company_id')
  if (node.kind !== 'mapping') found.push({ at, key: id, message: 'expected a mapping with company_id' })
  else if (isNothing(company)) found.push({ at: node.at, key: pathText([id, 'company_id']), message: 'missing' })
  mistakes.push(...found)
  if (found.length > 0 || fields.company_id === undefined) return undefined
  const device = deviceOf(id, { ...fields, company_id: fields.company_id }, source)
  return { device, at, companyAt: company?.at ?? at, nameAt: child(node, 'name')?.at ?? at }
}

function mistakesOfId(id: string, at: number): Mistake[] {
  if (isScientific(id)) return [{ at, key: id, message: int64Mistake(id) }]
  if (id !== '' && id === id.trim() && isPrintable(id) && Buffer.byteLength(id) <= MAX_ID_BYTES) return []
  return [{ at, key: id || undefined, message: ID_EXPECTED }]
}

type Fields = Partial<Omit<Device, 'id' | 'source'>>

function readFields({ entries }: Mapping, id: string, mistakes: Mistake[]): Fields {
  const fields: Record<string, unknown> = {}
  for (const { key, keyAt, value } of entries) {
    const field = FIELDS.get(key)
    if (field && isNothing(value)) continue
    const read = field?.read(value)
    if (read !== undefined) fields[key] = read
    else if (field) mistakes.push({ at: value.at, key: pathText([id, key]), message: field.mistake(value) })
    else
      mistakes.push({ at: keyAt, key: pathText([id, key]), message: unknownKey(['devices', key], [...FIELDS.keys()]) })
  }
  return fields
}

/** Sets every key, also to undefined: V8 reads objects of one shape faster. */
function deviceOf(id: string, fields: Fields & { company_id: string }, source: string): Device {
  const { name, company_id, courier_id, route_id, time_zone, secret, model, settings } = fields
  return { id, name, company_id, courier_id, route_id, time_zone, secret, model, settings, source }
}

function isNothing(node: Node | undefined): boolean {
  return !node || (node.kind === 'leaf' && node.text === null)
}

interface Field {
  /** Returns undefined where the value is not what is expected. */
  read(value: Node): unknown
  /** Says what is expected. */
  mistake(value: Node): string
}

const NAME: Field = { read: nameOf, mistake: () => 'expected printable text' }
const TEXT: Field = { read: (value) => textOf(value) || undefined, mistake: () => 'expected text' }
const ID: Field = { read: (value) => int64(textOf(value)), mistake: (value) => int64Mistake(textOf(value)) }
const ZONE: Field = { read: zoneOf, mistake: () => 'expected a time zone such as Europe/Berlin or "+03:00"' }
const SETTINGS: Field = {
  read: (value) => (value.kind === 'mapping' ? valueOf(value, natural) : undefined),
  mistake: () => 'expected a mapping',
}

const FIELDS = new Map<string, Field>(
  Object.entries({
    name: NAME,
    company_id: ID,
    courier_id: ID,
    route_id: ID,
    time_zone: ZONE,
    secret: TEXT,
    model: TEXT,
    settings: SETTINGS,
  } satisfies Record<keyof typeof DEVICE_KEYS, Field>),
)

function textOf(value: Node): string {
  return value.kind === 'leaf' ? (value.text ?? '') : ''
}

function nameOf(value: Node): string | undefined {
  const name = textOf(value).trim()
  return name !== '' && isPrintable(name) ? name : undefined
}

/** Without control characters, which a terminal obeys, and lone surrogates, which are not text. */
function isPrintable(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text)
}

function zoneOf(value: Node): string | undefined {
  return isZone(textOf(value)) ? textOf(value) : undefined
}

/** A scalar of `settings` as decoders expect it: unquoted numbers and booleans are no text. */
function natural({ text, quoted }: Leaf): unknown {
  if (text === null || quoted) return text
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(\.\d+)?$/.test(text) && String(Number(text)) === text ? Number(text) : text
}

const MAX_ID_BYTES = 64
const ID_EXPECTED = `expected a device id of 1 to ${MAX_ID_BYTES} bytes of printable UTF-8, without spaces around it`
