import { yieldToEventLoop } from '../../async.ts'
import type { DeviceSheet, SheetField, SheetRow } from '../../config/device-sheet.ts'
import type { Device } from '../../config/devices.ts'
import { readDevice } from '../../config/fleet.ts'
import type { Entry, Mapping } from '../../config/node.ts'
import { keyedText } from '../../config/problem.ts'
import { sameId, slipBetween } from '../../domain/ids.ts'
import { PUT_SOURCE } from '../../roster/assignment.ts'
import type { DeviceEntry } from '../../roster/device-entry.ts'
import { Roster } from '../../roster/roster.ts'
import { say, type Text } from '../../texts/text.ts'

/** A list of vans that is to be put. */
export interface DeviceImport {
  readonly sheet: DeviceSheet
  readonly company_id: string
  /** Ids by lines: the one that somebody has accepted, or written in place of that of the line. */
  readonly accepted: ReadonlyMap<number, string>
  /** When devices arrived that are not configured, ms UTC, by ids without leading zeros; empty if the caller must not know them. */
  readonly arrived: ReadonlyMap<string, Arrived>
}

/** A device that is not configured, and when it was last heard, ms UTC. */
export interface Arrived {
  readonly device: string
  readonly at: number
}

/** A line that is skipped until somebody decides which id it means. */
interface DoubtfulLine {
  readonly row: SheetRow
  /** The id that is used if the line is accepted unchanged. */
  readonly id?: string
  readonly message: Text
  readonly suggestions: readonly Suggestion[]
}

/** A device that may be meant: an arrived one, or one of the company. */
interface Suggestion {
  readonly id: string
  readonly name?: string
  readonly arrivedAt?: number
}

/** A line that adds or changes a device. `before`: the entry that it changes. */
interface TakenLine {
  readonly row: SheetRow
  readonly before?: DeviceEntry
  readonly device: Device
  readonly arrivedAt?: number
}

interface ImportRemark {
  readonly row: SheetRow
  readonly message: Text
}

export type ImportPlan = Awaited<ReturnType<typeof planImport>>

/**
 * Plans the put of a list of vans: a filled cell replaces the value in the device's entry, an empty cell keeps it. Nothing is
 * removed. Lines with a mistake or a doubtful id are skipped.
 */
export async function planImport(roster: Roster, asked: DeviceImport) {
  const ids = await resolveIds(roster, asked)
  const read = await readEntries(ids.certain, roster, asked)
  const changing = read.taken.filter(({ before, device }) => !before || isChanged(before, device))
  return {
    /** Lines that add or change a device, in order. */
    changing,
    added: changing.filter(({ before }) => !before).length,
    unchanged: read.taken.length - changing.length,
    devices: changing.map(({ device }) => [sameId(device.id), device] as const),
    doubtful: ids.doubtful,
    rejected: [...ids.rejected, ...read.rejected],
    warnings: [...ids.warnings, ...read.warnings],
  }
}

/** A line and its id. */
interface Certain {
  readonly row: SheetRow
  readonly id: string
}

/** Decides which id each line means. */
async function resolveIds(roster: Roster, asked: DeviceImport) {
  const { sheet, accepted, arrived, company_id } = asked
  const isOwn = (id: string) => roster.find(id)?.company_id === company_id
  const isKnown = (id: string) => isOwn(id) || arrived.has(sameId(id))
  const certain: Certain[] = []
  const doubts: Omit<DoubtfulLine, 'suggestions'>[] = []
  for (const row of sheet.rows) {
    const { id, doubt, repaired } = row.id
    const given = accepted.get(row.line)
    if (given !== undefined) certain.push({ row, id: given })
    else if (doubt !== undefined && !(id !== undefined && isKnown(id))) doubts.push({ row, id, message: doubt })
    else if (id === undefined) doubts.push({ row, message: say('it has no id of a device') })
    else if (repaired !== undefined && !isKnown(id) && arrivedLike(row, arrived).length > 0)
      doubts.push({ row, id, message: say('14 digits: any of the 15 digits may be missing') })
    else certain.push({ row, id })
  }
  const once = withoutRepetitions(certain, accepted)
  const taken = new Set(once.certain.map(({ id }) => sameId(id)))
  const doubtful = [...doubts, ...once.doubtful].toSorted((one, other) => one.row.line - other.row.line)
  const suggestions = await suggestionsFor(
    doubtful.slice(0, MOST_ASKED).map(({ row }) => row),
    { roster, asked, taken },
  )
  const warnings = once.certain.flatMap(({ row }): ImportRemark[] => {
    const { repaired } = row.id
    return repaired !== undefined && !accepted.has(row.line) ? [{ row, message: repaired }] : []
  })
  return {
    certain: once.certain,
    doubtful: doubtful.map((doubt): DoubtfulLine => ({ ...doubt, suggestions: suggestions.get(doubt.row) ?? [] })),
    rejected: once.rejected,
    warnings,
  }
}

/** Returns each id once: of equal lines the first, else the one that was accepted. */
function withoutRepetitions(all: readonly Certain[], accepted: DeviceImport['accepted']) {
  const certain: Certain[] = []
  const doubtful: Omit<DoubtfulLine, 'suggestions'>[] = []
  const rejected: ImportRemark[] = []
  for (const same of Map.groupBy(all, ({ id }) => sameId(id)).values()) {
    const isSame = same.every(({ row }) => textOf(row) === textOf(same[0].row))
    const chosen = same.find(({ row }) => accepted.has(row.line)) ?? (isSame ? same[0] : undefined)
    if (chosen) certain.push(chosen)
    for (const each of same) {
      if (each === chosen) continue
      const other = chosen ?? (each === same[0] ? same[1] : same[0])
      const message = say('line {} has this id too', other.row.line)
      if (chosen) rejected.push({ row: each.row, message })
      else doubtful.push({ ...each, message })
    }
  }
  return { certain, doubtful, rejected }
}

function textOf({ cells }: SheetRow): string {
  return JSON.stringify([...cells])
}

interface Surroundings {
  readonly roster: Roster
  readonly asked: DeviceImport
  /** The ids of other lines, without leading zeros. */
  readonly taken: ReadonlySet<string>
}

/** Returns the devices that a line may mean: first the one with its name, then those with a similar id, arrived ones first. */
async function suggestionsFor(rows: readonly SheetRow[], { roster, asked, taken }: Surroundings) {
  const { arrived, company_id } = asked
  const isFree = (id: string) => !taken.has(sameId(id))
  const isOwn = (device: DeviceEntry) => device.company_id === company_id && isFree(device.id)
  const alike = new Map<SheetRow, DeviceEntry[]>()
  for (const device of rows.length > 0 ? roster.devices() : []) {
    await yieldToEventLoop()
    if (!isOwn(device)) continue
    for (const row of rows) if (isLike(row, device.id)) alike.set(row, [...(alike.get(row) ?? []), device])
  }
  const suggestions = rows.map((row) => {
    const named = roster.named(row.cells.get('name') ?? '').filter(isOwn)
    const found = [
      ...named.map(suggestionOf),
      ...arrivedLike(row, arrived).map(({ device, at }): Suggestion => ({ id: device, arrivedAt: at })),
      ...(named.length > 0 ? [] : (alike.get(row) ?? [])).map(suggestionOf),
    ]
    const once = found.filter(({ id }, at) => isFree(id) && found.findIndex((other) => other.id === id) === at)
    return [row, once.slice(0, MOST_SUGGESTIONS)] as const
  })
  return new Map(suggestions)
}

function suggestionOf({ id, name }: DeviceEntry): Suggestion {
  return { id, name }
}

/** The arrivals that a line may mean, the latest first. */
function arrivedLike(row: SheetRow, arrived: DeviceImport['arrived']): Arrived[] {
  return Array.from(arrived.values().filter(({ device }) => isLike(row, device))).toSorted((a, b) => b.at - a.at)
}

/** Returns true if the written id may be a misspelling or a rounding of this id. */
function isLike({ id: { id = '', prefix, repaired } }: SheetRow, other: string): boolean {
  const own = sameId(other)
  if (prefix !== undefined) return own.length === IMEI_DIGITS && own.startsWith(prefix)
  return slipBetween(repaired === undefined ? sameId(id) : id.slice(0, -1), own) !== undefined
}

/** Builds the device of each line, and checks it together with all other devices as they will be. */
async function readEntries(lines: readonly Certain[], roster: Roster, asked: DeviceImport) {
  const { company_id, arrived } = asked
  const rejected: ImportRemark[] = []
  const after = new Roster(roster)
  let taken: TakenLine[] = []
  for (const { row, id } of lines) {
    await yieldToEventLoop()
    const before = roster.find(id)
    const read = readLine({ row, id, before }, NOBODY, company_id)
    if (before && before.company_id !== company_id) rejected.push({ row, message: TAKEN })
    else if ('message' in read) rejected.push({ row, message: read.message })
    else {
      taken.push({ row, before, device: read.device, arrivedAt: arrived.get(sameId(id))?.at })
      after.apply({ devices: [[sameId(id), read.device]] })
    }
  }
  // A skipped line frees its name for another line: repeat until no further line is skipped.
  for (let isDone = false; !isDone; ) {
    const kept: TakenLine[] = []
    for (const line of taken.toReversed()) {
      await yieldToEventLoop()
      const { row, before, device } = line
      const message = conflictOf(line, after, company_id)
      if (message === undefined) kept.push(line)
      else {
        rejected.push({ row, message })
        after.apply({ devices: [[sameId(device.id), before]] })
      }
    }
    isDone = kept.length === taken.length
    taken = kept.toReversed()
  }
  return { taken, rejected, warnings: sharedNames(taken, after) }
}

/** Returns why a device conflicts with the others. About other companies it only says that the value is taken. */
function conflictOf({ row, before, device }: TakenLine, after: Roster, company_id: string): Text | undefined {
  const { id, name } = device
  const namesakes = name === undefined ? [] : after.named(name).filter((other) => other.name === name)
  const others = [...namesakes, ...after.named(id), (name !== undefined && after.find(name)) || []].flat()
  if (others.some((other) => other.company_id !== company_id)) return TAKEN
  const read = readLine({ row, id, before }, after, company_id)
  return 'message' in read ? read.message : undefined
}

const NOBODY = { find: () => undefined, named: () => [] }
type Others = Parameters<typeof readDevice>[1]

/** The device that a line makes of an entry. */
function readLine(
  { row, id, before }: Certain & Pick<TakenLine, 'before'>,
  others: Others,
  company_id: string,
): { readonly device: Device } | { readonly message: Text } {
  const own = before?.company_id === company_id ? before : undefined
  const values = MERGED.map((key) => [key, row.cells.get(key) ?? own?.[key]] as const)
  const entries = [['company_id', company_id] as const, ...values].flatMap(([key, text]): Entry[] =>
    text === undefined ? [] : [{ key, keyAt: 0, value: { kind: 'leaf', at: 0, text, quoted: true } }],
  )
  const entry: Mapping = { kind: 'mapping', at: 0, entries }
  const read = readDevice({ id: own?.id ?? id, entry }, others, { companyIds: new Set([company_id]) })
  if ('mistakes' in read) return { message: keyedText(read.mistakes[0]) }
  if (!own) return { device: { ...read.device, source: PUT_SOURCE } }
  const { secretDigest, previousSecretDigest, settings, transports, networks, client_certificate, protocol } = own
  const rest = { secretDigest, previousSecretDigest, settings, transports, networks, client_certificate, protocol }
  const { trial, feed } = own
  return { device: { ...read.device, ...rest, trial, feed, source: PUT_SOURCE } }
}

function isChanged(before: Device, after: Device): boolean {
  return MERGED.some((key) => before[key] !== after[key])
}

/** Returns the lines that give several devices of the company the same name. */
function sharedNames(taken: readonly TakenLine[], after: Roster): ImportRemark[] {
  return taken.flatMap(({ row, device: { id, name } }): ImportRemark[] => {
    const others = name === undefined ? [] : after.named(name).filter((other) => other.name === name && other.id !== id)
    if (name === undefined || others.length === 0) return []
    return [
      {
        row,
        message: say('device {} has the name "{}" too: correct only for two trackers of one van', others[0].id, name),
      },
    ]
  })
}

/** The keys of an entry that a list may set. */
const MERGED = ['name', 'courier_id', 'route_id', 'time_zone', 'model'] as const satisfies readonly SheetField[]
const TAKEN = say('this id or name is taken: the line is left out')
const MOST_SUGGESTIONS = 5
/** For how many lines devices are suggested: each is compared with all devices. */
const MOST_ASKED = 200
const IMEI_DIGITS = 15
