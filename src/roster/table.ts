import { yieldToEventLoop } from '../async.ts'
import { type Problem, problemsIn } from '../config/problem.ts'
import { createDirectory, type Device, type Directory, type RouteLine, sameId } from './directory.ts'
import { deviceKey, type Edits, editSource, lineKey, type RouteEdit } from './edits.ts'
import type { Files } from './files.ts'
import { type LastPut, lastPuts } from './puts.ts'
import { type DeviceIndex, indexDevices, resolveRoutes, type WrittenRow } from './routes.ts'

/** Who drives what, by files and edits. */
export interface Table {
  readonly devices: readonly Device[]
  /** Those that overlap as well: `directory` has what holds of them. */
  readonly routes: readonly RouteLine[]
  readonly directory: Directory
  /** Lines of files that are left out. */
  readonly leftOut: readonly Problem[]
}

/**
 * Files and edits as one table: for a device and a time the last write wins.
 * - A device is as it was written last, in a file or through the admin port.
 * - A put takes the place of the lines of its company that begin in its interval and were written before it.
 * - Of the lines that are left over one another the directory follows the one that was written last.
 */
export async function tableOf(files: Pick<Files, 'devices' | 'routes'>, edits: Edits): Promise<Table> {
  const devices = withDeviceEdits(files, edits)
  const index = indexDevices(devices)
  const lastPut = lastPuts(edits.routes)
  const { lines, leftOut } = await linesOfFiles(files.routes, index, edits)
  const kept = [edits.routes.length === 0 ? lines : await linesAfterPuts(lines, index, lastPut)]
  for (const put of edits.routes) kept.push(await linesOfPut(put, index, lastPut))
  const routes = kept.flat()
  return { devices, routes, directory: await createDirectory(devices, routes), leftOut }
}

/** Devices of files with those of the admin port among them, each as it was written last. */
function withDeviceEdits({ devices }: Pick<Files, 'devices'>, { devices: edited, files }: Edits): readonly Device[] {
  const ofFiles = devices.flatMap(({ content }) => content.devices.map(({ device }) => device))
  if (edited.size === 0) return ofFiles
  const byId = new Map(ofFiles.map((device) => [sameId(device.id), device]))
  const inEffect = [...edited].filter(([id, { at }]) => at > (files.get(deviceKey(id, byId.get(id))) ?? 0))
  const ids = new Set(inEffect.map(([id]) => id))
  return [
    ...ofFiles.filter(({ id }) => !ids.has(sameId(id))),
    ...inEffect.flatMap(([, { device }]) => (device ? [device] : [])),
  ]
}

async function linesOfFiles(routes: Files['routes'], index: DeviceIndex, { files: writes }: Edits) {
  const reading = routes.map(async ({ source, content: { name, rows } }) => {
    const originOf = (row: WrittenRow) => ({ source: `${name}:${row.line}`, writtenAt: writtenAt(row, writes) })
    const { lines, mistakes } = await resolveRoutes(rows, index, originOf)
    return { lines, leftOut: problemsIn(source, mistakes) }
  })
  const read = await Promise.all(reading)
  return { lines: read.flatMap(({ lines }) => lines), leftOut: read.flatMap(({ leftOut }) => leftOut) }
}

function writtenAt(row: WrittenRow, writes: Edits['files']): number | undefined {
  return writes.size === 0 ? undefined : writes.get(lineKey(row))
}

/** Those that no put has taken the place of since they were written. */
async function linesAfterPuts(lines: readonly RouteLine[], index: DeviceIndex, lastPut: LastPut) {
  const kept: RouteLine[] = []
  for (const line of lines) {
    await yieldToEventLoop()
    const [device] = index(line.device)
    if ((line.writtenAt ?? 0) >= lastPut(device?.company_id, line.from)) kept.push(line)
  }
  return kept
}

/** A put's devices are looked up anew, as those of a file are; what is of another company by now is none of its. */
async function linesOfPut({ at, company_id, rows }: RouteEdit, index: DeviceIndex, lastPut: LastPut) {
  await yieldToEventLoop()
  const kept = rows.filter(({ from }) => at >= lastPut(company_id, from))
  const origin = { source: editSource(at), writtenAt: at, edited: true }
  const { lines } = await resolveRoutes(kept, index, () => origin)
  return lines.filter(({ device }) => index(device)[0]?.company_id === company_id)
}
