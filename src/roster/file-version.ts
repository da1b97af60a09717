import { createHash, hash as digestOf } from 'node:crypto'
import { yieldToEventLoop } from '../async.ts'
import type { Device, PlacedDevice } from '../config/devices.ts'
import type { Files } from '../config/files.ts'
import type { RouteRow } from '../config/routes.ts'
import { sameId } from '../domain/ids.ts'
import { keys, type Redis } from '../store/index.ts'
import { type Assignment, assignmentField, readAssignmentField } from './assignment.ts'
import { withoutSecret } from './device-entry.ts'
import { Roster, type RosterChange } from './roster.ts'
import { type FieldTexts, packed, unpacked } from './table.ts'

/** One version of a file: its items by key (`d <id>` or `a <field>`), and a hash of them. */
export interface FileVersion {
  readonly hash: string
  readonly items: ReadonlyMap<string, Item>
}

/** The version of a file that does not exist. */
export const NO_FILE: FileVersion = { hash: '', items: new Map() }

/** One device or line of a file. For earlier versions of a file only `mark` is known. */
interface Item {
  /** For a device a digest of its entry, which shows a change; for a line '': another line has another key. */
  readonly mark: string
  readonly device?: Device
  readonly source?: string
}

/** Resolves to the present content of each file of devices and routes, by its name. */
export async function contentsOf({ devices, routes }: Files): Promise<ReadonlyMap<string, FileVersion>> {
  const contents = new Map<string, FileVersion>()
  for (const { source, content } of devices) contents.set(source.name, await versionOf(content.devices, deviceItem))
  for (const { content } of routes) {
    const lineItem = (row: RouteRow): KeyedItem => {
      return [`a ${assignmentField(row)}`, { mark: '', source: `${content.name}:${row.line}` }]
    }
    contents.set(content.name, await versionOf(content.rows, lineItem))
  }
  return contents
}

type KeyedItem = readonly [key: string, item: Item]

async function versionOf<Entry>(entries: readonly Entry[], itemOf: (entry: Entry) => KeyedItem): Promise<FileVersion> {
  const items = new Map<string, Item>()
  const sum = createHash('sha256')
  for (const entry of entries) {
    const [key, item] = itemOf(entry)
    items.set(key, item)
    sum.update(`${key} ${item.mark}\n`)
    await yieldToEventLoop()
  }
  return { hash: sum.digest('base64url'), items }
}

function deviceItem({ device: { source, ...entry } }: PlacedDevice): KeyedItem {
  const stored = withoutSecret(entry)
  const mark = digestOf('sha256', JSON.stringify(stored), 'base64url').slice(0, 11)
  return [`d ${sameId(entry.id)}`, { mark, source, device: { ...stored, source } }]
}

/** Returns the roster changes of files: sets items that are new in them, and drops items that are gone. */
export async function differenceOf(
  files: readonly { readonly before: FileVersion; readonly now: FileVersion }[],
  roster: Pick<Roster, 'assignment'>,
): Promise<Required<RosterChange>> {
  const devices: [id: string, device: Device | undefined][] = []
  const assignments: [field: string, line: Assignment | undefined][] = []
  const set = (key: string, item?: Item) => {
    const field = key.slice(2)
    if (key.startsWith('d ')) devices.push([field, item?.device])
    else assignments.push([field, item && { ...readAssignmentField(field), source: item.source ?? '' }])
  }
  for (const { before, now } of files.filter((file) => file.before.hash !== file.now.hash)) {
    for (const [key, item] of now.items) {
      await yieldToEventLoop()
      // Lines may move from one file to another.
      const isSame = ({ items }: FileVersion) => items.get(key)?.mark === item.mark
      if (isSame(before) || files.some((other) => isSame(other.before))) continue
      set(key, item)
    }
    for (const key of before.items.keys()) {
      await yieldToEventLoop()
      if (now.items.has(key) || files.some((other) => other.now.items.has(key))) continue
      // A later put of the item is not the file's to drop.
      if (roster.assignment(key.slice(2))?.company_id === undefined) set(key)
    }
  }
  return { devices, assignments }
}

/** The roster that files alone make. */
export async function rosterOf(files: Files): Promise<Roster> {
  const roster = new Roster()
  const added = Array.from((await contentsOf(files)).values(), (now) => ({ before: NO_FILE, now }))
  await roster.applyInSlices(await differenceOf(added, roster))
  return roster
}

/**
 * Updates the line numbers in `source` of a file's items, in the roster of this process only. Redis keeps the line of the
 * write, because inserting a line above 100,000 others must not write all of them.
 */
export async function correctSources(roster: Roster, name: string, { items }: FileVersion): Promise<void> {
  for (const [key, { device, source }] of items) {
    await yieldToEventLoop()
    const field = key.slice(2)
    const there = device ? roster.find(field) : roster.assignment(field)
    if (source === undefined || there?.source === source || !there?.source.startsWith(`${name}:`)) continue
    roster.apply({ [device ? 'devices' : 'assignments']: [[field, { ...there, source }]] })
  }
}

/*
 * Notes of Redis about files, in one hash:
 *   versions <name>      JSON: the last 100 notes of all files of this name, oldest first
 *   marks <hash> <name>  content of the last ten installations: JSON of keys and marks, gzip, base64
 */

/**
 * A version of an installation's file: its hash ('' if the file was gone), and the roster version at that time. `isWritten`:
 * this installation wrote it to the roster; false if another one had done so before.
 */
export type Note = readonly [hash: string, installation: string, asOf: number, isWritten: boolean]

/** Notes about the files of one name on all machines. */
export interface FileNotes {
  readonly name: string
  /** Oldest first. */
  readonly notes: readonly Note[]
  /** The last version of this installation's file. */
  readonly own?: Note
  /** The version to compare the file with: the last one of this installation, else the last one that any installation wrote. */
  readonly before: FileVersion
}

/** Reads the notes about the present files, and about earlier files of this installation. */
export async function readFileNotes(
  redis: Redis,
  installation: string,
  contents: ReadonlyMap<string, FileVersion>,
): Promise<FileNotes[]> {
  const texts = new Map(Object.entries(await redis.hgetall(keys.roster('file-versions'))))
  const noted = [...texts.keys()].flatMap((field) => VERSIONS.exec(field)?.[1] ?? [])
  const known: FileNotes[] = []
  for (const name of new Set([...contents.keys(), ...noted])) {
    const notes: Note[] = JSON.parse(texts.get(`versions ${name}`) ?? '[]')
    const isKept = (hash: string) => hash === '' || texts.has(marksField(hash, name))
    const own = notes.findLast(([hash, writer]) => writer === installation && isKept(hash))
    const [hash] = own ?? notes.findLast(([, , , isWritten]) => isWritten) ?? ['']
    const now = contents.get(name)
    if (!now && (own?.[0] ?? '') === '') continue
    const text = texts.get(marksField(hash, name))
    const marks = text === undefined ? [] : ((await unpacked(text)) as [key: string, mark: string][])
    const earlier = {
      hash: text === undefined ? '' : hash,
      items: new Map(marks.map(([key, mark]) => [key, { mark }])),
    }
    known.push({ name, notes, own, before: now?.hash === hash ? now : earlier })
  }
  return known
}

/** Returns the fields that note the present content of a file. */
export async function notesWith(
  { name, notes }: Pick<FileNotes, 'name' | 'notes'>,
  note: Note,
  version: FileVersion,
): Promise<FieldTexts> {
  const all = [...notes, note].slice(-MOST_NOTES)
  const installations = [...new Set(all.map(([, writer]) => writer).toReversed())].slice(0, MOST_INSTALLATIONS)
  const needed = new Set(installations.map((id) => all.findLast(([, writer]) => writer === id)?.[0]))
  const unneeded = notes.filter(([hash]) => !needed.has(hash)).map(([hash]) => [marksField(hash, name), null] as const)
  const texts = [[`versions ${name}`, JSON.stringify(all)] as const, ...unneeded]
  if (version === NO_FILE) return texts
  const marks = Array.from(version.items, ([key, { mark }]) => [key, mark])
  return [...texts, [marksField(version.hash, name), await packed(marks)]]
}

function marksField(hash: string, name: string): string {
  return `marks ${hash} ${name}`
}

const VERSIONS = /^versions (.*)$/s
const MOST_NOTES = 100
/** An installation without a lasting data folder has a new id at each start. */
const MOST_INSTALLATIONS = 10
