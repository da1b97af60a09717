import { yieldToEventLoop } from '../async.ts'
import type { Device } from '../config/devices.ts'
import {
  type FieldTexts,
  type ReadStored,
  type Redis,
  type RosterLogEntry,
  readRosterChanges,
  readRosterTable,
  readRosterVersion,
} from '../lanes/index.ts'
import type { Assignment } from './directory.ts'
import { Roster, type RosterChange } from './roster.ts'
import { secretDigest } from './secret.ts'

/*
 * The roster in Redis: two hashes of JSON, `[<version that wrote it>, <what is stored>]`:
 *
 *   devices       id without leading zeros                         {"device": {…}, "source": "devices.yaml:3"}
 *   assignments   from until courier_id route_id device (written)  {"file": "routes.csv", "line": 17} or {"company_id": "7", "line": 3}
 *
 * What has no file was put through the admin port. `version`: of a write before the upgrade to this format.
 */
interface StoredDevice {
  readonly device: Omit<Device, 'source'>
  readonly source?: string
  readonly version?: number
}

interface StoredAssignment extends Pick<Assignment, 'company_id' | 'line' | 'version'> {
  readonly file?: string
}

/** A device as it is stored, with a digest of its secret. */
export function deviceText({ source, ...device }: WrittenDevice, version?: number): string {
  return JSON.stringify({ device: withoutSecret(device), source, version } satisfies StoredDevice)
}

/** Without a source it was put through the admin port. */
type WrittenDevice = Omit<Device, 'source'> & Partial<Pick<Device, 'source'>>

/** A device with a digest of its secret in place of the secret. */
export function withoutSecret<Some extends Omit<Device, 'source'>>({ secret, ...device }: Some): Omit<Some, 'secret'> {
  return secret === undefined ? device : { ...device, secretDigest: secretDigest(device.id, secret) }
}

/** A line of a file as it is stored. */
export function lineText(file: string, line: number, version?: number): string {
  return JSON.stringify({ file, line, version })
}

/** An assignment that was put, as it is stored. */
export function putText(company_id: string, line: number, version?: number): string {
  return JSON.stringify({ company_id, line, version })
}

/** Where something stands that was put through the admin port: `admin 2026-11-20T08:00:00Z`. */
function putSource(version: number): string {
  if (lastPut.version !== version)
    lastPut = { version, source: `admin ${new Date(version).toISOString().slice(0, 19)}Z` }
  return lastPut.source
}

/** A put may have 100,000 lines. */
let lastPut = { version: 0, source: '' }

/** What a write changes in the roster, with this version. */
export function changeOf({ devices, assignments }: RosterLogEntry['change'], version: number): RosterChange {
  return { devices: valuesOf(devices, version, deviceOf), assignments: valuesOf(assignments, version, assignmentOf) }
}

function valuesOf<Stored, Value>(texts: FieldTexts, version: number, read: ReadStored<Stored, Value>) {
  return texts.map(([field, text]) => {
    return [field, text === null ? undefined : read(field, version, JSON.parse(text))] as const
  })
}

/**
 * Reads the whole roster, in slices. What is written meanwhile may be in it or not: `readSince` the version that it is of tells
 * all of that again.
 */
export async function readTable(redis: Redis): Promise<{ roster: Roster; version: number }> {
  const version = await readRosterVersion(redis)
  const roster = new Roster()
  // In this order a device is derived once.
  for await (const assignments of readRosterTable(redis, 'assignment-table', assignmentOf))
    roster.apply({ devices: [], assignments })
  for await (const devices of readRosterTable(redis, 'device-table', deviceOf))
    roster.apply({ devices, assignments: [] })
  return { roster, version }
}

/**
 * What has been written since a version; `lost` where the log does not say: it does not go back so far, or Redis has another
 * past by now.
 */
export async function readSince(
  redis: Redis,
  since: number,
): Promise<{ version: number; change: RosterChange } | { version: number; lost: true }> {
  const { version, entries } = await readRosterChanges(redis, since)
  if (version < since || !isComplete(entries, since, version)) return { version, lost: true }
  const changes: RosterChange[] = []
  for (const entry of entries) {
    await yieldToEventLoop()
    changes.push(changeOf(entry.change, entry.version))
  }
  const change = {
    devices: changes.flatMap(({ devices }) => devices),
    assignments: changes.flatMap(({ assignments }) => assignments),
  }
  return { version, change }
}

/** Whether no log entry is missing. Each names the version before it, and the parts of one write are numbered from 0. */
function isComplete(entries: readonly RosterLogEntry[], since: number, version: number): boolean {
  let [last, parts] = [since, 0]
  for (const entry of entries) {
    if (entry.version !== last) {
      if (entry.after !== last) return false
      parts = 0
    }
    if (entry.part !== parts++) return false
    last = entry.version
  }
  return last === version
}

function deviceOf(_id: string, written: number, { device, source, version = written }: StoredDevice): Device {
  return { ...device, source: source ?? putSource(version) }
}

function assignmentOf(field: string, written: number, stored: StoredAssignment): Assignment {
  const [, from, until, courier_id, route_id, device] = FIELD.exec(field) ?? []
  const { file, company_id, line, version = written } = stored
  const said = { device, courier_id, route_id, from: Number(from), until: Number(until), version }
  return file === undefined
    ? { ...said, source: putSource(version), company_id, line }
    : { ...said, source: `${file}:${line}` }
}

const FIELD = /^(\S+) (\S+) (\S*) (\S+) (.*)$/s
