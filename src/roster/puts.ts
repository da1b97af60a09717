import { isDeepStrictEqual } from 'node:util'
import type { Device } from '../config/devices.ts'
import type { Interval } from '../domain/times.ts'
import { keys, type Redis } from '../store/index.ts'
import { type Text } from '../texts/text.ts'
import { type Assignment, assignmentField, partsOf, readAssignmentField } from './assignment.ts'
import { type DeviceEntry, plainDevice } from './device-entry.ts'
import type { LineChange, Roster, RosterChange } from './roster.ts'
import { type KeptPut, packed, putSource, unpacked } from './table.ts'

/*
 * What is kept of the writers of the roster, in two hashes:
 *
 *   results    put <company> <id>          JSON of the result of a put, whose id is the version that it made
 *              refused <company> <token>   of a put of which no line could be taken
 *              file <name>                 of the last version of a file
 *              pull <company> <name>       of a roster that is pulled: see pulls.ts; what it has written is a put, too
 *   replaced   <company> <id>              what the put replaced, `Replaced`: JSON, gzip, base64
 *
 * Of a company the last 20 puts are kept, for 31 days (store/lua/roster.lua).
 */

/** One remark about a line. */
export interface RosterRemark {
  readonly line: number
  /** As the line has it. */
  readonly device?: string
  readonly message: Text
}

/** Result of a file, a put or a pull. */
export interface RosterResult {
  /** The name of a file, of the token, or of a pull. */
  readonly writer: string
  readonly kind: 'file' | 'put' | 'pull'
  readonly company_id?: string
  /** Of a put of a roster: the lines that begin in this interval are replaced, `onlyListed`: of the devices in it. */
  readonly covers?: Interval & { readonly onlyListed?: boolean }
  /** What was put, if no routes. */
  readonly list?: 'devices'
  /** ms UTC. */
  readonly at: number
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly rejected: readonly RosterRemark[]
  readonly warnings: readonly RosterRemark[]
  /** The id of a put that can be undone. */
  readonly put?: string
  readonly undone?: true
  /** The file is older than a version that another file of this name has written. */
  readonly stale?: true
  /** The file is not in effect at all; its earlier content stays in effect. */
  readonly refused?: true
  /** When the server of a pull last confirmed the content in effect, ms UTC; undefined: never yet. */
  readonly pulled_at?: number
  readonly failing?: PullFailure
}

/** Why the server's present version of a pulled roster is not in effect. It never contains a secret. */
export interface PullFailure {
  /** ms UTC. */
  readonly since: number
  /** Failed or refused pulls in a row. */
  readonly tries: number
  readonly reason: Text
  /** It came, and is refused. */
  readonly refused?: true
}

/** The lines and devices that a put has written, each before and after it, and its interval, unix seconds. */
export interface Replaced extends Interval {
  readonly lines: readonly (readonly [field: string, before: Assignment | undefined, after: Assignment | undefined])[]
  /** By id without leading zeros. */
  readonly devices?: readonly (readonly [id: string, before: Device | undefined, after: Device])[]
}

/** Returns what to keep of a put, so that it can be undone. `change`: its write; `roster`: the roster before it. */
export async function keptPut(
  result: RosterResult,
  { from, until, change, roster, devices }: Interval & PutChange,
): Promise<KeptPut> {
  const lines = change.map(([field, line]) => [field, roster.assignment(field), line] as const)
  const entries = devices?.map(([id, after]) => {
    const before = roster.find(id)
    return [id, before && plainDevice(before), after] as const
  })
  const replaced = await packed({ from, until, lines, devices: entries } satisfies Replaced)
  return { company_id: result.company_id ?? '', result: resultText(result), replaced }
}

interface PutChange {
  readonly change: LineChange
  readonly devices?: readonly (readonly [id: string, device: Device])[]
  readonly roster: Roster
}

/** Resolves to what a put has replaced; undefined if it is not kept. */
export async function readReplaced(redis: Redis, company: string, put: string): Promise<Replaced | undefined> {
  const text = await redis.hget(keys.roster('replaced'), `${company} ${put}`)
  if (text === null) return undefined
  const replaced = (await unpacked(text)) as Replaced
  // JSON has no Infinity.
  return { ...replaced, until: replaced.until ?? Infinity }
}

/**
 * Returns the lines that undo a put: everything that it replaced. What another writer, such as a file, has written in the
 * same place since stays.
 */
export function linesBefore({ lines }: Replaced, put: string, roster: Roster): LineChange {
  return lines.flatMap(([field, before, after]) => {
    const current = roster.assignment(field)
    // The lines of a put have no version before they are written.
    const isUntouched = after
      ? current?.version === (after.version ?? Number(put)) && current.company_id === after.company_id
      : !current
    return isUntouched ? [[field, before ?? undefined] as const] : []
  })
}

/** Returns the entries that undo a put, except those that another writer has changed since. */
export function devicesBefore({ devices = [] }: Replaced, put: string, roster: Roster): RosterChange['devices'] & {} {
  const source = putSource(Number(put))
  return devices.flatMap(([id, before, after]) => {
    const current = roster.find(id)
    const isUntouched = current && isDeepStrictEqual(said({ ...after, source }), said(current))
    // JSON has null in place of undefined.
    return isUntouched ? [[id, before ?? undefined] as const] : []
  })
}

/** Returns the content of an entry, without what the roster adds. */
function said(device: Device): unknown {
  const { companySince: _since, ...rest } = plainDevice(device)
  return JSON.parse(JSON.stringify(rest))
}

/**
 * Returns what to write to end the lines of devices within an interval (unix seconds). The parts of each line before and
 * after the interval stay in effect. A line with a name that other devices share stays unchanged for these.
 */
export function cutLines(devices: readonly DeviceEntry[], { from, until }: Interval, roster: Roster): LineChange {
  const change = new Map<string, Assignment | undefined>()
  const ids = new Set(devices.map(({ id }) => id))
  const set = (line: Assignment, device: DeviceEntry) => {
    const own = { ...line, device: device.id, company_id: device.company_id }
    change.set(assignmentField(own), own)
  }
  for (const device of devices) {
    const lines = roster.linesOf(device).map((line) => ({ ...line, field: assignmentField(line) }))
    const cut = lines.filter((line) => line.from < until && line.until > from)
    for (const { field, ...line } of cut) {
      if (!change.has(field)) change.set(field, undefined)
      for (const other of roster.meant(line.device)) if (!ids.has(other.id)) set(line, other)
    }
    // Overlaps are resolved here: a piece begins at another time than its line, and might win over others.
    for (const { field, ...part } of partsOf(lines)) {
      if (!cut.some((line) => line.field === field)) continue
      if (part.from < from) set({ ...part, until: Math.min(part.until, from) }, device)
      if (part.until > until) set({ ...part, from: Math.max(part.from, until) }, device)
    }
  }
  return [...change]
}

/**
 * Returns how many lines are new, replace one of the same device and `from`, or go, from the fields of all lines before and
 * after.
 */
export function countLines(before: Iterable<string>, after: Iterable<string>) {
  const [old, present] = [new Set(before), new Set(after)]
  const gone = new Set(Array.from(old.difference(present), lineOf))
  const written = new Set(Array.from(present.difference(old), lineOf))
  const changed = written.intersection(gone).size
  return { added: written.size - changed, changed, removed: gone.size - changed }
}

function lineOf(field: string): string {
  const { from, device } = readAssignmentField(field)
  return `${from} ${device}`
}

/** All stored results, latest first. The last put of a pull is part of its result. */
export async function readResults(redis: Redis): Promise<RosterResult[]> {
  const texts = Object.entries(await redis.hgetall(keys.roster('results')))
  const [pulls, others] = [true, false].map((isPull) =>
    texts
      .filter(([field]) => field.startsWith('pull ') === isPull)
      .map(([field, text]): RosterResult => ({ ...JSON.parse(text), put: PUT.exec(field)?.[1] }))
      .toSorted(latestFirst),
  )
  const merged = pulls.map((pull) => {
    const { kind, writer, company_id } = pull
    const last = others.find((put) => put.kind === kind && put.writer === writer && put.company_id === company_id)
    return { last, result: { ...pull, put: last?.put, undone: last?.undone } }
  })
  const shown = new Set(merged.map(({ last }) => last))
  return [...merged.map(({ result }) => result), ...others.filter((each) => !shown.has(each))].toSorted(latestFirst)
}

function latestFirst(a: RosterResult, b: RosterResult): number {
  return b.at - a.at || Number(b.put ?? 0) - Number(a.put ?? 0)
}

/** Returns the put of a company that can be undone: the latest that was not. */
export function latestPut(results: readonly RosterResult[], company: string): RosterResult | undefined {
  return results.find(({ put, undone, company_id }) => put !== undefined && !undone && company_id === company)
}

/**
 * Returns the last result of each writer and company, for routes and for lists of vans; if that put was undone, also the
 * previous one.
 */
export function lastResults(results: readonly RosterResult[]): RosterResult[] {
  const done = new Set<string>()
  return results.filter(({ kind, list = '', writer, company_id = '', undone }) => {
    const key = `${kind} ${list} ${company_id} ${writer}`
    if (done.has(key)) return false
    if (!undone) done.add(key)
    return true
  })
}

/**
 * The results whose lines that are left out still are: of each writer the last. A roster that was put is over once its writer puts another
 * one, or a later put replaces all that it covers, whoever puts that; an assignment in between ends nothing.
 * @param results latest first
 */
export function leftOutResults(results: readonly RosterResult[]): RosterResult[] {
  const last = new Set(lastResults(results))
  return results.filter((result, index) => {
    const { company_id, covers, rejected, undone, writer } = result
    if (undone || rejected.length === 0) return false
    if (!covers) return last.has(result)
    return !results.slice(0, index).some((later) => {
      if (!later.covers || later.undone || later.company_id !== company_id) return false
      // A put without an id has written nothing.
      return later.writer === writer || (later.put !== undefined && replaces(later.covers, covers))
    })
  })
}

function replaces({ from, until, onlyListed }: RosterResult['covers'] & {}, earlier: Interval): boolean {
  return !onlyListed && from <= earlier.from && earlier.until <= until
}

/** The result of a file; `isChanged`: it was written now, or refused. */
export interface FileResult extends RosterResult {
  readonly isChanged: boolean
}

/**
 * Stores the results of all files, and deletes those of other files. For a file that has not changed only its remarks
 * are new: a device that it names may have been added.
 */
export async function noteFileResults(redis: Redis, results: readonly FileResult[]): Promise<void> {
  const known = await redis.hgetall(keys.roster('results'))
  const noting = redis.multi()
  const names = new Set(results.map(({ writer }) => `file ${writer}`))
  for (const field of Object.keys(known))
    if (field.startsWith('file ') && !names.has(field)) noting.hdel(keys.roster('results'), field)
  for (const { isChanged, ...result } of results) {
    const field = `file ${result.writer}`
    const before = isChanged || !known[field] ? result : (JSON.parse(known[field]) as RosterResult)
    const { at, added, changed, removed } = before
    noting.hset(keys.roster('results'), field, resultText({ ...result, at, added, changed, removed }))
  }
  await noting.exec()
}

/** Stores the result of a put that has written nothing. */
export async function noteRefusedPut(redis: Redis, result: RosterResult): Promise<void> {
  await redis.hset(keys.roster('results'), `refused ${result.company_id} ${result.writer}`, resultText(result))
}

/** Notes that a put was taken back. */
export async function noteUndone(redis: Redis, result: RosterResult): Promise<void> {
  const { put, failing: _failing, pulled_at: _pulledAt, ...undone } = result
  const field = `put ${result.company_id} ${put}`
  await redis.hset(keys.roster('results'), field, resultText({ ...undone, undone: true }))
}

/** Returns the stored text of a result, with its first remarks. */
export function resultText({ rejected, warnings, ...result }: RosterResult): string {
  return JSON.stringify({
    ...result,
    rejected: rejected.slice(0, MOST_REMARKS),
    warnings: warnings.slice(0, MOST_REMARKS),
  } satisfies RosterResult)
}

const PUT = /^put \S+ (\d+)$/
const MOST_REMARKS = 100
