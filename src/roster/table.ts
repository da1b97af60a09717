import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { yieldToEventLoop } from '../async.ts'
import type { Device } from '../config/devices.ts'
import { keys, type Store } from '../store/index.ts'
import { type Assignment, PUT_SOURCE, readAssignmentField } from './assignment.ts'
import { withoutSecret } from './device-entry.ts'
import { Roster, type RosterChange } from './roster.ts'

/*
 * The roster in Redis: two hashes of JSON, `[<version that wrote it>, <what is stored>]`:
 *
 *   device-table       id without leading zeros                {"id": …, "company_id": …, "source": "devices.yaml:3"},
 *                                                              and since when it belongs to its company (lua/roster.lua)
 *   assignment-table   from until courier_id route_id device   {"source": "routes.csv:17"} or
 *                                                              {"company_id": "7", "line": 3}
 *
 * What has no source was put through the admin port. A `version` is stored with an assignment whose rank is decided by
 * another write than that of its field.
 */

/** Fields of a hash with their new texts; null drops a field. */
export type FieldTexts = readonly (readonly [field: string, text: string | null])[]

export interface RosterWrite extends RosterChange {
  /** The last content of each file: see file-version.ts. */
  readonly files?: FieldTexts
  /** Offers to redeliver what the write concerns: see offers.ts. */
  readonly offers?: FieldTexts
  /** Stored with a put, so that it can be undone: see puts.ts. */
  readonly put?: KeptPut
}

/** The company of a put, the JSON of its result, and what it replaced; both texts are deleted when the put is old. */
export interface KeptPut {
  readonly company_id: string
  readonly result: string
  readonly replaced: string
}

/**
 * Writes to the roster in one step. Returns the new version; notes alone do not change it. Returns null, and writes nothing,
 * if there was another write since `asOf`. The first write creates a roster, even if it is empty.
 */
export async function writeRoster(
  redis: Store,
  { devices = [], assignments = [], files = [], offers = [], put }: RosterWrite,
  asOf: number,
): Promise<number | null> {
  const parts = Math.ceil(Math.max(devices.length, assignments.length, asOf === 0 ? 1 : 0) / PART_SIZE)
  if (parts + files.length === 0) return asOf
  const changes: string[] = []
  for (let begin = 0; changes.length < parts; begin += PART_SIZE) {
    const end = begin + PART_SIZE
    changes.push(entryText({ devices: devices.slice(begin, end), assignments: assignments.slice(begin, end) }))
    await yieldToEventLoop()
  }
  const names = [
    'version',
    'device-table',
    'assignment-table',
    'file-versions',
    'log',
    'results',
    'replaced',
    'former',
    'offers',
  ]
  const { company_id = '', result = '', replaced = '' } = put ?? {}
  const args = [
    asOf,
    LAST_PART,
    JSON.stringify(files),
    JSON.stringify(offers),
    company_id,
    result,
    replaced,
    ...changes,
  ]
  const version = await redis.run('roster', names.map(keys.roster), args)
  if (version === null) return null
  // Gateways that miss this look a moment later.
  redis.publish(keys.roster('written'), '').catch(() => {})
  return Number(version)
}

/** Packs a value as JSON, gzip, base64, for long values that are seldom read. */
export async function packed(value: unknown): Promise<string> {
  return (await promisify(gzip)(JSON.stringify(value))).toString('base64')
}

/** The value of such a text. */
export async function unpacked(text: string): Promise<unknown> {
  return JSON.parse((await promisify(gunzip)(Buffer.from(text, 'base64'))).toString())
}

/** The version of the last write to the roster; 0: it was never written. */
export async function readRosterVersion(redis: Store): Promise<number> {
  return Number((await redis.get(keys.roster('version'))) ?? 0)
}

/** Reads the whole roster in slices, then from the log what was written during that time, which the slices may lack. */
export async function readRosterTable(redis: Store): Promise<{ roster: Roster; version: number }> {
  const version = await readRosterVersion(redis)
  const roster = new Roster()
  // Assignments first: they concern no device that comes after them.
  for await (const assignments of valuesIn(redis, 'assignment-table', assignmentOf)) roster.apply({ assignments })
  for await (const devices of valuesIn(redis, 'device-table', deviceOf)) roster.apply({ devices })
  const missed = await readSince(redis, version)
  if (!missed.change) return readRosterTable(redis)
  await roster.applyInSlices(missed.change)
  return { roster, version: missed.version }
}

/** All values of a hash, in slices. A field may occur twice. */
async function* valuesIn<Stored, Value>(redis: Store, table: string, valueOf: ValueOf<Stored, Value>) {
  for await (const flat of redis.hscanStream(keys.roster(table), { count: SLICE })) {
    const values: (readonly [field: string, value: Value])[] = []
    for (let at = 0; at < flat.length; at += 2) {
      const [version, stored, since] = JSON.parse(flat[at + 1]) as [number, Stored, number?]
      values.push([flat[at], valueOf(flat[at], version, stored, since)])
    }
    yield values
    await yieldToEventLoop()
  }
}

/**
 * Resolves to the changes since a version. Without `change`, the log cannot tell them: it does not go back so far, or Redis
 * has another history.
 */
export async function readSince(
  redis: Store,
  since: number,
): Promise<{ version: number; change?: Required<RosterChange> }> {
  const version = await readRosterVersion(redis)
  if (version === since) return { version, change: { devices: [], assignments: [] } }
  // The oldest entries are dropped first: if the last one of `since` exists, all later ones do.
  const [known, ...entries] = await redis.xrange(keys.roster('log'), `${since}-${LAST_PART}`, version)
  if (known?.[0] !== `${since}-${LAST_PART}`) return { version }
  const changes: Required<RosterChange>[] = []
  for (const [id, [, text, , belongsSince = '{}']] of entries) {
    changes.push(readEntry(text, Number.parseInt(id), new Map(Object.entries(JSON.parse(belongsSince)))))
    await yieldToEventLoop()
  }
  const [devices, assignments] = [changes.flatMap((each) => each.devices), changes.flatMap((each) => each.assignments)]
  return { version, change: { devices, assignments } }
}

/** A part of a change as an entry of the log. */
function entryText({ devices, assignments }: Required<RosterChange>): string {
  const ofDevices = devices.map(([id, device]) => [id, device ? deviceText(device) : null])
  const ofAssignments = assignments.map(([field, line]) => [field, line ? assignmentText(line) : null])
  return JSON.stringify({ devices: ofDevices, assignments: ofAssignments })
}

/** Returns one entry's part of the change of a version; `since`: by device id. */
function readEntry(text: string, version: number, since: ReadonlyMap<string, unknown>): Required<RosterChange> {
  const { devices, assignments } = JSON.parse(text) as Record<'devices' | 'assignments', FieldTexts>
  const read = <Stored, Value>(texts: FieldTexts, valueOf: ValueOf<Stored, Value>) =>
    texts.map(([field, stored]) => {
      return [
        field,
        stored === null ? undefined : valueOf(field, version, JSON.parse(stored), since.get(field) as number),
      ] as const
    })
  return { devices: read(devices, deviceOf), assignments: read(assignments, assignmentOf) }
}

function deviceText({ companySince: _since, ...device }: Device): string {
  return JSON.stringify({ ...withoutSecret(device), source: storedSource(device) })
}

function assignmentText({ company_id, line, version, ...said }: Assignment): string {
  return JSON.stringify({ source: storedSource(said), company_id, line, version })
}

function storedSource({ source }: Pick<Device, 'source'>): string | undefined {
  return source === PUT_SOURCE || source.startsWith(`${PUT_SOURCE} `) ? undefined : source
}

/** Makes a value of what the write of a version has stored in a field. */
type ValueOf<Stored, Value> = (field: string, version: number, stored: Stored, since?: number) => Value

function deviceOf(_id: string, version: number, stored: Partial<Device>, companySince?: number): Device {
  const source = stored.source ?? putSource(version)
  return { ...(stored as Device), source, ...(companySince !== undefined && { companySince }) }
}

function assignmentOf(field: string, written: number, stored: Partial<Assignment>): Assignment {
  const { device, courier_id, route_id, from, until } = readAssignmentField(field)
  const { version = written, source = putSource(version), company_id, line } = stored
  return { device, courier_id, route_id, from, until, version, source, company_id, line }
}

/**
 * Returns the `source` of lines put through the admin port: `admin 2026-11-20T08:00:00Z`. All lines of a write share one
 * string.
 */
export function putSource(version: number): string {
  if (version !== lastPut.version)
    lastPut = { version, source: `${PUT_SOURCE} ${new Date(version).toISOString().slice(0, 19)}Z` }
  return lastPut.source
}

let lastPut = { version: -1, source: '' }

/** The most devices, and the most assignments, in an entry of the log. Its id is `<version>-<part>`. */
const PART_SIZE = 5000
/** The number of the last part of each write. */
const LAST_PART = 99_999
const SLICE = 1000
