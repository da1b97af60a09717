import { hash } from 'node:crypto'
import { yieldToEventLoop } from '../async.ts'
import { type Device, sameId } from './directory.ts'
import type { Files } from './files.ts'
import type { RouteRow, WrittenRow } from './routes.ts'

/**
 * What was written to devices and routes through the admin port, and since then to files: see table.ts for what holds.
 * Instants of writes are ms UTC by Redis' clock, no two the same.
 */
export interface Edits {
  /** Of the last write; 0 where there was none. */
  readonly at: number
  /** By id without leading zeros. */
  readonly devices: ReadonlyMap<string, DeviceEdit>
  /** Oldest first. */
  readonly routes: readonly RouteEdit[]
  /**
   * When devices and lines of files were written, by `deviceKey` and `lineKey`, also those that are gone from files of some
   * machine; those that are not here: before all edits.
   */
  readonly files: ReadonlyMap<string, number>
}

/** A device that was put, or, null, deleted. */
export interface DeviceEdit {
  readonly at: number
  readonly device: Device | null
}

/** Lines that took the place of those of a company that began in [from, until), unix seconds. */
export interface RouteEdit {
  readonly at: number
  readonly company_id: string
  readonly from: number
  readonly until: number
  readonly rows: readonly RouteRow[]
}

export const NO_EDITS: Edits = { at: 0, devices: new Map(), routes: [], files: new Map() }

/**
 * What tells the entry of a device from others, among `files` of edits, by all that it says; without one: that it is gone.
 * Its secret alone does not count: nothing is to be learnt of it in Redis, and one that comes from the environment changes
 * without a write to the file. So an entry whose secret alone is changed does not win over what was put.
 */
export function deviceKey(id: string, device: Device | undefined): string {
  const says = { ...device, source: undefined, secret: undefined }
  return `device ${sameId(id)} ${device ? hash('sha256', JSON.stringify(says), 'base64url') : 'gone'}`
}

/**
 * What tells a line of a file from others, among `files` of edits: all that it says, in the words it says it, so that it
 * is the same line under another `time_zone`; not where it stands.
 */
export function lineKey({ device, courier_id = '', route_id, when }: WrittenRow): string {
  return `line ${when}/${courier_id}/${route_id}/${sameId(device)}`
}

/** What a change of files wrote, by `deviceKey` and `lineKey`. */
export interface FileWrites {
  /** What files say now. */
  readonly written: readonly string[]
  /** What they do not say any more. */
  readonly gone: readonly string[]
}

/**
 * What has to be written down of a change of files, so that it is told from edits before it; not what another file says as
 * well, before and after. What is written down already keeps its time until it is gone: of processes that see the same change
 * only the first has written, and a restart, or a machine that comes later, writes nothing. What is gone keeps its time too,
 * for the machines that still have it. Two things this cannot know: what changed before the first edit of all is not written
 * down, so that a machine that sees it only after that edit counts as its writer; and of what was gone and is back the writer
 * is whoever sees that last.
 */
export async function writesBetween(before: Files, after: Files): Promise<FileWrites> {
  const [old, now] = [await saidIn(filesIn(before, after, 'changed')), await saidIn(filesIn(after, before, 'changed'))]
  if (missing(now.keys, [old.keys]).length + missing(old.keys, [now.keys]).length === 0)
    return { written: [], gone: [] }
  const both = await saidIn(filesIn(before, after, 'same'), new Set([...old.ids, ...now.ids]))
  return {
    written: [...missing(now.keys, [old.keys, both.keys]), ...missing(old.ids, [now.ids, both.ids]).map(goneKey)],
    gone: [...missing(old.keys, [now.keys, both.keys]), ...missing(now.ids, [old.ids, both.ids]).map(goneKey)],
  }
}

/** What files say: the ids of their devices, and the keys of devices and lines. */
interface Said {
  readonly ids: ReadonlySet<string>
  readonly keys: ReadonlySet<string>
}

type Fleet = Pick<Files, 'devices' | 'routes'>

/** With `only`, of devices those with these ids alone. */
async function saidIn({ devices, routes }: Fleet, only?: ReadonlySet<string>): Promise<Said> {
  const [ids, keys] = [new Set<string>(), new Set<string>()]
  for (const { device } of devices.flatMap(({ content }) => content.devices)) {
    await yieldToEventLoop()
    const id = sameId(device.id)
    if (only && !only.has(id)) continue
    ids.add(id)
    keys.add(deviceKey(id, device))
  }
  for (const row of routes.flatMap(({ content }) => content.rows)) {
    await yieldToEventLoop()
    keys.add(lineKey(row))
  }
  return { ids, keys }
}

/** Those that have changed since others, or have not: files are read once. */
function filesIn({ devices, routes }: Fleet, others: Fleet, which: 'changed' | 'same'): Fleet {
  const isSame = which === 'same'
  return {
    devices: devices.filter((file) => others.devices.includes(file) === isSame),
    routes: routes.filter((file) => others.routes.includes(file) === isSame),
  }
}

function missing(all: ReadonlySet<string>, others: readonly ReadonlySet<string>[]): string[] {
  return [...all].filter((each) => !others.some((other) => other.has(each)))
}

function goneKey(id: string): string {
  return deviceKey(id, undefined)
}

/** A week before edits, as in `Edits`; of two clocks by the one behind: Redis' own may have been ahead once. */
export function weekBefore({ at }: Edits): number {
  return Math.min(at, Date.now()) - WEEK_MS
}

const WEEK_MS = 7 * 86_400_000

/** Where a device or a line stands that was written through the admin port at this time: `admin 2026-11-20T08:00:00Z`. */
export function editSource(at: number): string {
  return `admin ${new Date(at).toISOString().slice(0, 19)}Z`
}

/** Whether a device or a line was written through the admin port after a time, as in `Edits`. */
export function isWrittenSince(at: number, { devices, routes }: Edits): boolean {
  return [...devices.values(), ...routes].some((edit) => edit.at > at)
}
