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
  readonly version: number
  /** From 0. */
  readonly part: number
  /** The version before the write. */
  readonly after: number
  readonly change: Pick<RosterWrite, 'devices' | 'assignments'>
}

/** Writes to the roster in one step. Answers its new version; null, and nothing is written, after another write since `asOf`. */
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
  const names = ['version', 'device-table', 'assignment-table', 'file-versions', 'log'].map(keys.roster)
  const version = await scripts(redis)('roster', names, [asOf, JSON.stringify(files), ...changes])
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
  const version = await readRosterVersion(redis)
  const entries = version > since ? await redis.xrange(keys.roster('log'), since + 1, version) : []
  return { version, entries: entries.map(logEntry) }
}

/** Makes a value of what the write of a version has stored in a field. */
export type ReadStored<Stored, Value> = (field: string, version: number, stored: Stored) => Value

/** Reads a hash of the roster, in slices; a field may come twice. */
export async function* readRosterTable<Stored, Value>(
  redis: Redis,
  part: 'device-table' | 'assignment-table',
  read: ReadStored<Stored, Value>,
): AsyncGenerator<(readonly [field: string, value: Value])[]> {
  let cursor = '0'
  do {
    const [next, flat] = await redis.hscan(keys.roster(part), cursor, 'COUNT', SLICE)
    const stored = JSON.parse(`[${flat.filter((_, index) => index % 2 === 1).join()}]`) as [number, Stored][]
    yield stored.map(([version, value], n) => [flat[2 * n], read(flat[2 * n], version, value)])
    cursor = next
    await yieldToEventLoop()
  } while (cursor !== '0')
}

function logEntry([id, fields]: readonly [id: string, fields: readonly string[]]): RosterLogEntry {
  const [version, part] = id.split('-').map(Number)
  return { version, part, after: Number(fields[1]), change: JSON.parse(fields[3]) }
}

/** Fields of a kind in one entry of the log. */
const PART_SIZE = 5000
const SLICE = 1000
