import { yieldToEventLoop } from '../async.ts'
import type { Device } from '../config/devices.ts'
import {
  type Redis,
  type RosterLogEntry,
  type RosterWrite,
  readRosterChanges,
  readRosterVersion,
  scanRoster,
} from '../lanes/index.ts'
import type { Assignment } from './directory.ts'
import { Roster, type RosterChange } from './roster.ts'
import { secretDigest } from './secret.ts'

/*
 * The roster in Redis: two hashes. In front of each text stands the version that wrote it, then JSON:
 *
 *   devices       id without leading zeros                         {"device": {…}, "source": "devices.yaml:3"}
 *   assignments   from until courier_id route_id device (written)  {"file": "routes.csv", "line": 17} or {"company_id": "7", "line": 3}
 *
 * What has no file was put through the admin port. `version` in the JSON: of a write before the upgrade to this format.
 */

/** A device as it is stored; without a source it was put through the admin port. */
export function deviceText(
  { source, ...device }: Omit<Device, 'source'> & { source?: string },
  version?: number,
): string {
  return JSON.stringify({ device: withoutSecret(device), source, version })
}

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
export function changeOf(written: Pick<RosterWrite, 'devices' | 'assignments'>, version: number): RosterChange {
  const change = emptyChange()
  addWritten(change, written, version)
  return change
}

function addWritten(
  change: ReturnType<typeof emptyChange>,
  { devices, assignments }: Pick<RosterWrite, 'devices' | 'assignments'>,
  version: number,
): void {
  for (const [id, text] of devices) change.devices.set(id, text === null ? undefined : deviceOf(text, version))
  for (const [field, text] of assignments)
    change.assignments.set(field, text === null ? undefined : assignmentOf(field, text, version))
}

/**
 * Reads the whole roster, in slices. What is written meanwhile may be in it or not: `readSince` the version that it is of tells
 * all of that again.
 */
export async function readTable(redis: Redis): Promise<{ roster: Roster; version: number }> {
  const version = await readRosterVersion(redis)
  const roster = new Roster()
  // In this order a device is derived once.
  for (const part of ['assignment-table', 'device-table'] as const)
    for await (const slice of scanRoster(redis, part)) {
      const change = emptyChange()
      for (const [field, stored] of slice) {
        const [writtenBy, text] = splitVersion(stored)
        const written = [[field, text] as const]
        const [devices, assignments] = part === 'device-table' ? [written, []] : [[], written]
        addWritten(change, { devices, assignments }, writtenBy)
      }
      roster.apply(change)
      await yieldToEventLoop()
    }
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
  const change = emptyChange()
  for (const entry of entries) {
    await yieldToEventLoop()
    addWritten(change, entry.change, entry.version)
  }
  return { version, change }
}

/** An entry that is missing shows: each names the version before it, and the parts of a write are numbered. */
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

function emptyChange() {
  return { devices: new Map<string, Device | undefined>(), assignments: new Map<string, Assignment | undefined>() }
}

function splitVersion(stored: string): [version: number, text: string] {
  const space = stored.indexOf(' ')
  return [Number(stored.slice(0, space)), stored.slice(space + 1)]
}

function deviceOf(text: string, version: number): Device {
  const { device, source, version: earlier = version } = JSON.parse(text)
  return { ...device, source: source ?? putSource(earlier) }
}

function assignmentOf(field: string, text: string, version: number): Assignment {
  const [, from, until, courier_id, route_id, device] = FIELD.exec(field) ?? []
  const { file, company_id, line, version: earlier = version } = JSON.parse(text)
  const said = { device, courier_id, route_id, from: Number(from), until: Number(until) }
  if (file !== undefined) return { ...said, source: `${file}:${line}`, version: earlier }
  return { ...said, source: putSource(earlier), version: earlier, company_id, line }
}

const FIELD = /^(\S+) (\S+) (\S*) (\S+) (.*)$/s
