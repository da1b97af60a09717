import { type Redis, readRoster, readRosterRoutes, type StoredRoster, type Written } from '../lanes/index.ts'
import type { Device } from './directory.ts'
import { type DeviceEdit, type Edits, editSource, NO_EDITS, type RouteEdit, weekBefore } from './edits.ts'
import { putField } from './write.ts'

/** The roster as Redis has it. */
export interface Reading {
  readonly edits: Edits
  /** Of marks of files those of what is gone, and since when, as in `Edits`. */
  readonly gone: ReadonlyMap<string, number>
}

/** Reads the roster. What is among `before` already is taken from there: it may be large, and never changes. */
export async function readEdits(redis: Redis, before: Edits = NO_EDITS): Promise<Reading> {
  const stored = await readRoster(redis)
  const routes = await routeEdits(redis, stored.routes, before.routes)
  // A put that went meanwhile: there was a write since.
  return routes ? { edits: editsOf(stored, routes, before), gone: goneMarks(stored) } : readEdits(redis, before)
}

function editsOf({ at, devices, files }: StoredRoster, routes: readonly RouteEdit[], before: Edits): Edits {
  if (at === 0) return NO_EDITS
  return {
    at,
    devices: new Map(Array.from(devices, ([id, written]) => [id, deviceEdit(written, before.devices.get(id))])),
    files: new Map(Array.from(files, ([key, written]) => [key, written.at])),
    routes,
  }
}

/** The puts with these fields, oldest first; undefined where one of them is not there any more. */
async function routeEdits(
  redis: Redis,
  fields: readonly string[],
  before: readonly RouteEdit[],
): Promise<readonly RouteEdit[] | undefined> {
  const known = new Map(before.map((edit) => [putField(edit), edit]))
  const unknown = fields.filter((field) => !known.has(field))
  const read = await readRosterRoutes(redis, unknown)
  const added = read?.map(({ text }, index) => routeEdit(unknown[index], text))
  return added && [...fields.flatMap((field) => known.get(field) ?? []), ...added].toSorted((a, b) => a.at - b.at)
}

/** Its time is that of its field: a value has the time of the last loss of lines. */
function routeEdit(field: string, text: string): RouteEdit {
  return { ...(JSON.parse(text) as Omit<RouteEdit, 'at'>), at: Number.parseInt(field) }
}

/** No two writes are at the same time: one that is known need not be read again. */
function deviceEdit({ at, text }: Written, before: DeviceEdit | undefined): DeviceEdit {
  if (before?.at === at) return before
  const device = JSON.parse(text) as Omit<Device, 'source'> | null
  return { at, device: device && { ...device, source: editSource(at) } }
}

function goneMarks({ files }: StoredRoster): ReadonlyMap<string, number> {
  const gone = Array.from(files).filter(([, { text }]) => text !== '')
  return new Map(gone.map(([key, { text }]) => [key, Number(text.slice('gone '.length))]))
}

/**
 * What of files is gone so long that no machine still has it, or is the oldest of too much: a program that writes a file
 * each minute leaves every line of it behind, and every process reads all of this with each change of the roster.
 */
export function forgettableMarks({ edits, gone }: Reading): string[] {
  const longAgo = weekBefore(edits)
  const marks = Array.from(gone, ([key, since]) => ({ key, since })).toSorted((a, b) => b.since - a.since)
  return marks.filter(({ since }, rank) => rank >= MOST_GONE || since < longAgo).map(({ key }) => key)
}

const MOST_GONE = 50_000
