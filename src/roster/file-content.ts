import { createHash, hash } from 'node:crypto'
import { yieldToEventLoop } from '../async.ts'
import type { Device, DeviceFile } from '../config/devices.ts'
import type { Files, Read } from '../config/files.ts'
import type { RouteFile } from '../config/routes.ts'
import { sameId } from '../config/units.ts'
import { assignmentField, type Roster } from './roster.ts'
import { deviceText, type RosterWrite } from './table.ts'

/** One version of a file: what it says by key, `d <id>` or `a <field>`, and the hash of that. */
export interface FileVersion {
  readonly name: string
  readonly hash: string
  readonly items: ReadonlyMap<string, Item>
}

/** One device or line of a file. Of what a file said before the mark alone is known. */
interface Item {
  /** Tells whether a device has changed. */
  readonly mark: string
  readonly device?: Device
  readonly source?: string
}

/** The files of devices and routes, by name. */
export async function contentsOf({ devices, routes }: Files): Promise<ReadonlyMap<string, FileVersion>> {
  const contents = new Map<string, FileVersion>()
  for (const file of devices) contents.set(file.source.name, await contentOf(file, deviceItems(file.content)))
  for (const file of routes) contents.set(file.source.name, await contentOf(file, lineItems(file.content)))
  return contents
}

async function contentOf(file: Read<unknown>, read: Iterable<[key: string, Item]>): Promise<FileVersion> {
  const known = knownContents.get(file)
  if (known) return known
  const items = new Map<string, Item>()
  const sum = createHash('sha256')
  for (const [key, item] of read) {
    items.set(key, item)
    sum.update(`${key} ${item.mark}\n`)
    await yieldToEventLoop()
  }
  const content = { name: file.source.name, hash: sum.digest('base64url'), items }
  knownContents.set(file, content)
  return content
}

/** A file is read once. */
const knownContents = new WeakMap<Read<unknown>, FileVersion>()

function* deviceItems({ devices }: DeviceFile): Generator<[string, Item]> {
  for (const { device } of devices) {
    const mark = hash('sha256', deviceText({ ...device, source: undefined }), 'base64url').slice(0, 11)
    yield [`d ${sameId(device.id)}`, { mark, device, source: device.source }]
  }
}

function* lineItems({ name, rows }: RouteFile): Generator<[string, Item]> {
  for (const row of rows) yield [`a ${assignmentField(row)}`, { mark: '', source: `${name}:${row.line}` }]
}

/** What has to be written: all that files say now and did not say before, and the other way round. */
export async function differenceOf(
  files: readonly { readonly before?: FileVersion; readonly now?: FileVersion }[],
  roster: Pick<Roster, 'assignment'>,
): Promise<Required<Pick<RosterWrite, 'devices' | 'assignments'>>> {
  const [devices, assignments]: [string, string | null][][] = [[], []]
  if (files.every(({ before, now }) => before?.hash === now?.hash)) return { devices, assignments }
  const before = together(files.map((each) => each.before))
  const now = together(files.map((each) => each.now))
  for (const [key, { mark, source, device }] of now) {
    await yieldToEventLoop()
    if (before.get(key)?.mark === mark) continue
    if (device) devices.push([key.slice(2), deviceText(device)])
    else assignments.push([key.slice(2), JSON.stringify({ source })])
  }
  for (const key of before.keys()) {
    await yieldToEventLoop()
    const field = key.slice(2)
    if (now.has(key)) continue
    if (key.startsWith('d')) devices.push([field, null])
    // What was put since is not the file's to drop.
    else if (roster.assignment(field)?.company_id === undefined) assignments.push([field, null])
  }
  return { devices, assignments }
}

function together(versions: readonly (FileVersion | undefined)[]): FileVersion['items'] {
  return new Map(versions.flatMap((version) => (version ? [...version.items] : [])))
}

/**
 * Has the roster of this process name the lines where assignments and devices of files stand now. Redis keeps those of the
 * write: a line that is inserted above 100,000 others is not a write of them.
 */
export async function correctSources(roster: Roster, { name, items }: FileVersion): Promise<void> {
  for (const [key, { device, source }] of items) {
    await yieldToEventLoop()
    const field = key.slice(2)
    const [entry, line] = [device && roster.find(field), device ? undefined : roster.assignment(field)]
    const there = (entry ?? line)?.source
    if (source === undefined || there === source || !there?.startsWith(`${name}:`)) continue
    if (entry) roster.apply({ devices: [[field, { ...entry, source }]] })
    if (line) roster.apply({ assignments: [[field, { ...line, source }]] })
  }
}
