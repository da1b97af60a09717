import { yieldToEventLoop } from '../async.ts'
import { keys } from './keys.ts'
import { type Redis, scripts } from './redis.ts'

/** Fields of a hash with their new texts; null drops a field. */
export type FieldTexts = readonly (readonly [field: string, text: string | null])[]

/** A write to the roster. */
export interface RosterWrite {
  readonly devices: FieldTexts
  readonly assignments: FieldTexts
  /** What is noted of files: see src/roster/file-notes.ts. */
  readonly files?: FieldTexts
}

/** An entry of the roster's log: one part of a write. */
export interface RosterLogEntry {
  /** Of the write. */
  readonly version: number
  /** From 0. */
  readonly part: number
  /** The version before the write. */
  readonly after: number
  readonly change: Pick<RosterWrite, 'devices' | 'assignments'>
}

/**
 * Writes to the roster in one step. @returns its new version; null where there was another write since the version `asOf`:
 * nothing is written
 */
export async function writeRoster(
  redis: Redis,
  { devices, assignments, files = [] }: RosterWrite,
  asOf: number,
): Promise<number | null> {
  const parts = Math.max(1, Math.ceil(devices.length / PART_SIZE), Math.ceil(assignments.length / PART_SIZE))
  const part = (all: FieldTexts, n: number) => all.slice(n * PART_SIZE, (n + 1) * PART_SIZE)
  const changes = Array.from({ length: parts }, (_, n) =>
    JSON.stringify({ devices: part(devices, n), assignments: part(assignments, n) }),
  )
  const names = (['version', 'device-table', 'assignment-table', 'file-versions', 'log'] as const).map(keys.roster)
  const version = await scripts(redis)('roster_write', names, [asOf, JSON.stringify(files), ...changes])
  return version === null ? null : Number(version)
}

/** The version of the last write to the roster; 0: it was never written. */
export async function readRosterVersion(redis: Redis): Promise<number> {
  return Number((await redis.get(keys.roster('version'))) ?? 0)
}

/** The roster's version, and what was written since another version, as far as the log still has it. */
export async function readRosterChanges(
  redis: Redis,
  since: number,
): Promise<{ version: number; entries: RosterLogEntry[] }> {
  const names = [keys.roster('version'), keys.roster('log')]
  const [version, entries] = (await scripts(redis)('roster_changes', names, [since])) as [Buffer, [Buffer, Buffer[]][]]
  return { version: Number(version), entries: entries.map(logEntry) }
}

/** Makes a value of what the write of a version has stored in a field. */
export type ReadStored<Stored, Value> = (field: string, version: number, stored: Stored) => Value

/** Reads a hash of the roster, in slices; a field may come twice. */
export async function readRosterTable<Stored, Value>(
  redis: Redis,
  part: 'device-table' | 'assignment-table',
  read: ReadStored<Stored, Value>,
): Promise<(readonly [field: string, value: Value])[]> {
  const values: (readonly [string, Value])[] = []
  let cursor = '0'
  do {
    const [next, flat] = await redis.hscan(keys.roster(part), cursor, 'COUNT', SLICE)
    const stored = JSON.parse(`[${flat.filter((_, index) => index % 2 === 1).join()}]`) as [number, Stored][]
    for (const [n, [version, value]] of stored.entries()) values.push([flat[2 * n], read(flat[2 * n], version, value)])
    cursor = next
    await yieldToEventLoop()
  } while (cursor !== '0')
  return values
}

/** Notes which version of the roster is in effect at a gateway process. */
export async function noteApplied(redis: Redis, gateway: string, version: number): Promise<void> {
  await redis.hset(keys.roster('applied'), gateway, version)
}

function logEntry([id, fields]: readonly [id: Buffer, fields: readonly Buffer[]]): RosterLogEntry {
  const [version, part] = id.toString().split('-').map(Number)
  return { version, part, after: Number(fields[1]), change: JSON.parse(fields[3].toString()) }
}

/** Fields of a kind in one entry of the log. */
const PART_SIZE = 5000
const SLICE = 2000
