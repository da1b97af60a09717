import { createHash, hash } from 'node:crypto'
import { yieldToEventLoop } from '../async.ts'
import type { Device, DeviceFile } from '../config/devices.ts'
import type { Files, Read } from '../config/files.ts'
import type { RouteFile, RouteRow } from '../config/routes.ts'
import { sameId } from '../config/units.ts'
import type { FieldTexts } from '../lanes/index.ts'
import type { Assignment } from './directory.ts'
import { assignmentField, type Roster } from './roster.ts'
import { deviceText, lineText } from './table.ts'

/** One version of a file: the marks of what it says, by key (see `Item`), and the hash of them. */
export interface FileVersion {
  readonly hash: string
  readonly marks: ReadonlyMap<string, string>
}

/** A file's version with what it says. */
export interface FileContent extends FileVersion {
  readonly items: ReadonlyMap<string, Item>
}

/** One device or line of a file. Its key is `d <id>` or `a <field>`; its mark tells whether a device has changed. */
interface Item {
  readonly device?: Device
  /** Where an assignment stands. */
  readonly line?: number
}

/** The files of devices and routes, by name. */
export async function contentsOf({ devices, routes }: Files): Promise<ReadonlyMap<string, FileContent>> {
  const contents = new Map<string, FileContent>()
  for (const file of devices) contents.set(file.source.name, await contentOf(file, deviceItems(file.content)))
  for (const file of routes) contents.set(file.source.name, await contentOf(file, lineItems(file.content)))
  return contents
}

async function contentOf(file: Read<unknown>, read: Iterable<[string, string, Item]>): Promise<FileContent> {
  const known = knownContents.get(file)
  if (known) return known
  const [items, marks] = [new Map<string, Item>(), new Map<string, string>()]
  const sum = createHash('sha256')
  for (const [key, mark, item] of read) {
    items.set(key, item)
    marks.set(key, mark)
    sum.update(`${key} ${mark}\n`)
    await yieldToEventLoop()
  }
  const content = { hash: sum.digest('base64url'), marks, items }
  knownContents.set(file, content)
  return content
}

/** A file is read once. */
const knownContents = new WeakMap<Read<unknown>, FileContent>()

function* deviceItems({ devices }: DeviceFile): Generator<[string, string, Item]> {
  for (const { device } of devices) {
    const mark = hash('sha256', deviceText({ ...device, source: undefined }), 'base64url').slice(0, 11)
    yield [`d ${sameId(device.id)}`, mark, { device }]
  }
}

function* lineItems({ rows }: RouteFile): Generator<[string, string, Item]> {
  for (const row of rows) yield [`a ${assignmentField(assignmentOf(row, ''))}`, '', { line: row.line }]
}

/** The assignment that a row of a file or a put makes. */
export function assignmentOf({ device, courier_id = '', route_id, from, until }: RouteRow, source: string): Assignment {
  return { device, courier_id, route_id, from, until, source }
}

/** A file as it is compared: what it said last, what it says now, and what another machine has written of it already. */
export interface Comparison {
  readonly name: string
  readonly before?: FileVersion
  readonly now?: FileVersion | FileContent
  readonly elsewhere?: FileVersion
}

/** What has to be written: all that files say now and did not before, and the other way round. */
export async function differenceOf(
  comparisons: readonly Comparison[],
  roster: Roster,
): Promise<{ devices: FieldTexts; assignments: FieldTexts }> {
  const [devices, assignments]: [string, string | null][][] = [[], []]
  const before = mergedMarks(comparisons.map((each) => each.before))
  const elsewhere = mergedMarks(comparisons.map((each) => each.elsewhere))
  const now = mergedMarks(comparisons.map((each) => each.now))
  for (const { name, now: file } of comparisons) {
    if (!file || !('items' in file)) continue
    for (const [key, mark] of file.marks) {
      await yieldToEventLoop()
      if (before.get(key) === mark || elsewhere.get(key) === mark) continue
      const { device, line = 0 } = file.items.get(key) ?? {}
      if (device) devices.push([key.slice(2), deviceText(device)])
      else assignments.push([key.slice(2), lineText(name, line)])
    }
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

/**
 * Has the roster of this process name the lines where assignments and devices of files stand now. Redis keeps those of the
 * write: a line that is inserted above 100,000 others is not a write of them.
 */
export async function correctSources(roster: Roster, contents: ReadonlyMap<string, FileContent>): Promise<void> {
  for (const [name, { items }] of contents)
    for (const [key, { device, line }] of items) {
      await yieldToEventLoop()
      const field = key.slice(2)
      const [entry, assignment] = [device && roster.find(field), device ? undefined : roster.assignment(field)]
      const source = device?.source ?? `${name}:${line}`
      const isMoved = (there?: { source: string }) => there?.source.startsWith(`${name}:`) && there.source !== source
      if (entry && isMoved(entry)) roster.apply({ devices: [[field, { ...entry, source }]], assignments: [] })
      if (assignment && isMoved(assignment))
        roster.apply({ devices: [], assignments: [[field, { ...assignment, source }]] })
    }
}

function mergedMarks(versions: readonly (FileVersion | undefined)[]): ReadonlyMap<string, string> {
  const present = versions.filter((version) => version !== undefined)
  if (present.length === 1) return present[0].marks
  return new Map(present.flatMap(({ marks }) => [...marks]))
}
