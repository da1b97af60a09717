import type { Device } from './directory.ts'
import { sameId } from './directory.ts'
import type { Files } from './files.ts'
import type { RouteRow } from './routes.ts'

/**
 * What was written to devices and routes through the admin port. Files and edits are one table: for a device and a time the
 * last write wins. Instants of writes are ms UTC by Redis' clock, no two the same.
 */
export interface Edits {
  /** Of the last write; 0 where there was none. */
  readonly at: number
  /** By id without leading zeros. */
  readonly devices: ReadonlyMap<string, DeviceEdit>
  /** Oldest first. */
  readonly routes: readonly RouteEdit[]
  /** When devices and lines of files were written, by `deviceKey` and `lineKey`; those that are not here before all edits. */
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

/** What tells a device of a file from others, among `files` of edits. */
export function deviceKey(id: string): string {
  return `device ${sameId(id)}`
}

/** What tells a line of a file from others, among `files` of edits: all that it says, not where it stands. */
export function lineKey({ device, courier_id = '', route_id, from, until }: RouteRow): string {
  return `line ${from}/${until}/${courier_id}/${route_id}/${sameId(device)}`
}

/** What a change of files wrote, by `deviceKey` and `lineKey`. */
export interface FileWrites {
  /** Devices that are new, different or gone, and lines that are new. */
  readonly written: readonly string[]
  /** Lines that are not there any more. */
  readonly gone: readonly string[]
}

/** What has to be written down of a change of files, so that it is told from edits before it. */
export function writesBetween(before: Files, after: Files): FileWrites {
  const oldLines = lineKeys(without(before.routes, after.routes))
  const newLines = lineKeys(without(after.routes, before.routes))
  const oldDevices = deviceTexts(without(before.devices, after.devices))
  const newDevices = deviceTexts(without(after.devices, before.devices))
  const devices = new Set([...oldDevices.keys(), ...newDevices.keys()])
  return {
    written: [
      ...[...devices].filter((key) => oldDevices.get(key) !== newDevices.get(key)),
      ...[...newLines].filter((key) => !oldLines.has(key)),
    ],
    gone: [...oldLines].filter((key) => !newLines.has(key)),
  }
}

/** Files are read once: those that are in both lists have not changed. */
function without<File>(files: readonly File[], others: readonly File[]): readonly File[] {
  return files.filter((file) => !others.includes(file))
}

function lineKeys(routes: Files['routes']): Set<string> {
  return new Set(routes.flatMap(({ content }) => content.rows.map(lineKey)))
}

function deviceTexts(devices: Files['devices']): Map<string, string> {
  const all = devices.flatMap(({ content }) => content.devices)
  return new Map(all.map(({ device }) => [deviceKey(device.id), JSON.stringify({ ...device, source: undefined })]))
}

/** Where a device or a line stands that was written through the admin port at this time: `admin 2026-11-20T08:00:00Z`. */
export function editSource(at: number): string {
  return `admin ${new Date(at).toISOString().slice(0, 19)}Z`
}

/** Whether a device or a line was written through the admin port after a time, as in `Edits`. */
export function isWrittenSince(at: number, { devices, routes }: Edits): boolean {
  return [...devices.values(), ...routes].some((edit) => edit.at > at)
}

/** Devices of files with those of the admin port among them, each as it was written last. */
export function withDeviceEdits(devices: readonly Device[], { devices: edited, files }: Edits): readonly Device[] {
  const inEffect = [...edited].filter(([id, { at }]) => at > (files.get(deviceKey(id)) ?? 0))
  if (inEffect.length === 0) return devices
  const ids = new Set(inEffect.map(([id]) => id))
  return [
    ...devices.filter(({ id }) => !ids.has(sameId(id))),
    ...inEffect.flatMap(([, { device }]) => (device ? [device] : [])),
  ]
}
