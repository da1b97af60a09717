import type { z } from 'zod'
import { yieldToEventLoop } from '../async.ts'
import { MAX_ID_BYTES } from '../domain/ids.ts'
import { cidr } from '../domain/networks.ts'
import { int64Mistake, isScientific, weaknessOf } from '../domain/units.ts'
import { say } from '../texts/text.ts'
import { columnMistakes, parseCsv, type Row } from './csv.ts'
import { schemaMistakes } from './document.ts'
import { takeFlowLines } from './flow-lines.ts'
import { fields, flag, id, isPrintable, leaf, mapping, oneOf, printableText, text, wordList, zone } from './leaves.ts'
import { type Entry, type Leaf, type Node, offsetOf, type Path, pathText, valueOf } from './node.ts'
import { locator, type Mistake, type Source } from './problem.ts'
import { parseYaml, resolveReference, withoutEchoes } from './yaml.ts'

/** The schema of an entry, with the description of each key, from which config/fleet.md is generated. */
export const DEVICE = fields({
  company_id: id.describe('Required. A company of `gateway.yaml`.'),
  name: printableText
    .optional()
    .describe('Name for people and for routes files. Two trackers of one van may share it.'),
  courier_id: id.optional().describe('Courier of fixes that no line of a routes file covers.'),
  route_id: id.optional().describe('Route of fixes that no line of a routes file covers.'),
  time_zone: zone.optional().describe('Zone of a tracker that reports local time: an IANA name or an offset.'),
  secret: text
    .optional()
    .describe('What the tracker must present: MQTT and OwnTracks password, OwnTracks encryption key, OsmAnd `token=`.'),
  previous_secret: text.optional().describe('Accepted beside `secret`, until the tracker has the new one.'),
  protocol: text.optional().describe('Name of the only protocol that it may speak.'),
  transports: wordList(oneOf('tcp', 'udp', 'http', 'mqtt'))
    .optional()
    .describe('The only transports that it may come by: `tcp`, `udp`, `http`, `mqtt`.'),
  networks: wordList(leaf(cidr, 'expected a network such as 10.20.0.0/16, or an address'))
    .optional()
    .describe('The only networks (CIDR) that it may come from, such as the private APN of a carrier.'),
  client_certificate: wordList(printableText)
    .optional()
    .describe('Names of the client certificates of which it must present one, over TLS.'),
  trial: oneOf('on', 'off').optional().describe('`off`: where a listener has an old server, we answer the device.'),
  feed: flag.optional().describe('With `trial: off`: the old server gets its bytes too.'),
  model: text.optional().describe('Model of the tracker, where its protocol needs it.'),
  settings: mapping.optional().describe('Mapping of further settings, where its protocol needs them.'),
})

/**
 * One entry of devices.yaml or devices.csv. Its other ids (company, courier, route) are digits without leading zeros.
 */
export interface Device extends Readonly<z.output<typeof DEVICE>> {
  /** The id as the file writes it, with its leading zeros. */
  readonly id: string
  /** In place of `secret` and `previous_secret`, of a device in the roster: see roster/device-entry.ts. */
  readonly secretDigest?: string
  readonly previousSecretDigest?: string
  /**
   * Since when it belongs to its company, ms UTC: earlier arrivals belong to another company. Undefined: always. Only set in
   * the roster.
   */
  readonly companySince?: number
  /** Where the entry was written: `devices.yaml:3`, `admin 2026-11-20T08:00:00Z`. */
  readonly source: string
}

export interface DeviceFile {
  readonly devices: readonly PlacedDevice[]
  readonly mistakes: readonly Mistake[]
}

/** A device with the offsets of its id, its company, its name and its protocol. */
export interface PlacedDevice {
  readonly device: Device
  readonly at: number
  readonly companyAt: number
  readonly nameAt: number
  readonly protocolAt: number
}

/** Reads devices.yaml, or devices.csv with the same names as columns. */
export async function readDevices({ name, text: content }: Source): Promise<DeviceFile> {
  const locate = locator(content)
  const meaning: Mistake[] = []
  const devices: PlacedDevice[] = []
  const take = (entry: Entry) => {
    const device = readDeviceEntry(entry, `${name}:${locate(entry.keyAt).line}`, meaning)
    if (device) devices.push(device)
  }
  const mistakes = await (name.endsWith('.csv') ? readCsv(content, take) : readYaml(content, take))
  return { devices: devices.toSorted((a, b) => a.at - b.at), mistakes: withoutEchoes(mistakes, meaning) }
}

async function readYaml(content: string, take: (entry: Entry) => void): Promise<Mistake[]> {
  // fleetMistakes finds repeated ids, because it compares all files, and ids without their leading zeros.
  const { root, mistakes } = parseYaml(await takeFlowLines(content, take), { mayRepeat: true })
  if (root?.kind === 'mapping') for (const entry of root.entries) take(entry)
  else if (root) mistakes.push({ at: root.at, message: 'expected a mapping of device ids' })
  return mistakes
}

async function readCsv(content: string, take: (entry: Entry) => void): Promise<Mistake[]> {
  const table = parseCsv(content)
  if (!table) return []
  const mistakes = columnMistakes(table, ['device', ...Object.keys(DEVICE.shape)], ['device', 'company_id'])
  if (mistakes.length > 0) return mistakes
  for (const row of table.rows) {
    await yieldToEventLoop()
    if (row.mistake === undefined) take(rowEntry(row, table.columns, mistakes))
    else mistakes.push({ at: row.at, message: row.mistake })
  }
  return mistakes
}

function rowEntry({ at, cells }: Row, columns: readonly string[], mistakes: Mistake[]): Entry {
  const key = cells[columns.indexOf('device')]
  const entries = columns.flatMap((column, index): Entry[] => {
    if (column === 'device' || cells[index] === '') return []
    const resolved = resolveReference(cells[index])
    if ('mistake' in resolved) mistakes.push({ at, key: pathText([key, column]), message: resolved.mistake })
    return 'text' in resolved ? [{ key: column, keyAt: at, value: cellNode(column, resolved.text, at) }] : []
  })
  return { key, keyAt: at, value: { kind: 'mapping', at, entries } }
}

/** A cell of the column `settings` is a mapping in one line of YAML or JSON. */
function cellNode(column: string, content: string, at: number): Node {
  const settings = column === 'settings' ? parseYaml(content).root : undefined
  return settings ?? { kind: 'leaf', at, text: content, quoted: true }
}

/** Reads an entry that was found at `source`; undefined if it has mistakes, which are added to `mistakes`. */
export function readDeviceEntry(
  { key, keyAt, value }: Entry,
  source: string,
  mistakes: Mistake[],
): PlacedDevice | undefined {
  const { data, error } = DEVICE.safeParse(valueOf(value, settingOrText))
  const found = [...idMistakes(key, keyAt), ...schemaMistakes(error, value, [key])]
  mistakes.push(...found)
  if (!data || found.length > 0) return undefined
  mistakes.push(...weakSecrets(key, value, data))
  const { name, company_id, courier_id, route_id, time_zone, secret, previous_secret, model, settings } = data
  const { protocol, transports, networks, client_certificate, trial, feed } = data
  // Sets every key, also to undefined: V8 reads objects of one shape faster.
  const what = { id: key, name, company_id, courier_id, route_id, time_zone, secret, previous_secret, model, settings }
  return {
    device: { ...what, protocol, transports, networks, client_certificate, trial, feed, source },
    at: keyAt,
    companyAt: offsetOf(value, ['company_id']),
    nameAt: offsetOf(value, ['name']),
    protocolAt: offsetOf(value, ['protocol']),
  }
}

function weakSecrets(key: string, value: Node, data: z.output<typeof DEVICE>): Mistake[] {
  return (['secret', 'previous_secret'] as const).flatMap((name): Mistake[] => {
    const weakness = data[name] === undefined ? undefined : weaknessOf(data[name], key)
    if (weakness === undefined) return []
    return [{ at: offsetOf(value, [name]), key: pathText([key, name]), severity: 'weak', message: weakness }]
  })
}

function idMistakes(key: string, at: number): Mistake[] {
  if (isScientific(key)) return [{ at, key, message: int64Mistake(key) }]
  if (key !== '' && key === key.trim() && isPrintable(key) && Buffer.byteLength(key) <= MAX_ID_BYTES) return []
  return [{ at, key: key || undefined, message: ID_EXPECTED }]
}

/** Returns a scalar of `settings` for decoders: unquoted numbers and booleans keep their type; all others are text. */
function settingOrText({ text: scalar, quoted }: Leaf, path: Path): unknown {
  if (path[0] !== 'settings' || path.length === 1) return scalar ?? undefined
  if (scalar === null || quoted) return scalar
  if (scalar === 'true' || scalar === 'false') return scalar === 'true'
  return /^-?\d+(\.\d+)?$/.test(scalar) && String(Number(scalar)) === scalar ? Number(scalar) : scalar
}

const ID_EXPECTED = say(
  'expected a device id of 1 to {} bytes of printable UTF-8, without spaces around it',
  MAX_ID_BYTES,
)
