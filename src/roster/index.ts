import type { Redis } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import type { Device } from './directory.ts'
import type { Edits, FileWrites, RouteEdit } from './edits.ts'
import { reportFaults } from './faults.ts'
import { watchFreshness } from './freshness.ts'
import type { Obsolete } from './puts.ts'
import { forgettableMarks } from './read.ts'
import { createReader } from './reader.ts'
import { dropDeletions, writeDevice, writeMarks, writeRoutes } from './write.ts'

export { ROSTER_HOLDS_MS } from './freshness.ts'

/** What was written to devices and routes through the admin port, the same for everybody around a Redis. */
export interface Roster {
  /** As it was read last; undefined until it was for the first time. Another object whenever it has changed. */
  readonly edits: Edits | undefined
  /** As it was read first. */
  readonly first: Promise<Edits>
  /** Reads it now. Rejects where Redis does not answer. */
  refresh(): Promise<Edits>
  /** Calls `apply`, which brings them into effect, whenever `edits` is another object than before. */
  follow(apply: () => Promise<void>): void
  /** Whether what is in effect is as of a moment ago: not while Redis is away, nor until it has been read after that. */
  readonly fresh: boolean
  /**
   * Puts a device, or, null, deletes it. @returns the time of the write, as in `Edits`; null where there was another since
   * `asOf`: nothing is written
   */
  putDevice(id: string, device: Device | null, asOf: number): Promise<number | null>
  /**
   * Puts lines in place of others; what is `obsolete` of earlier puts goes. @returns the time of the write, as in `Edits`;
   * null where there was one that `obsolete` does not know of: nothing is written
   */
  putRoutes(edit: Omit<RouteEdit, 'at'>, obsolete: Obsolete): Promise<number | null>
  /** Forgets deletions of devices, unless there was a write since `asOf`. */
  dropDeletions(ids: readonly string[], asOf: number): Promise<void>
  /** Notes what was written to files, where that is after some edit; `edits` has it then. */
  noteFiles(writes: FileWrites): Promise<void>
  /** Reads it no more. */
  close(): void
}

/** Reads the roster, and looks twenty times a second whether it has been written. */
export function followRoster(redis: Redis, logger: Logger): Roster {
  const faults = reportFaults(redis, logger)
  const freshness = watchFreshness(redis)
  const followers = new Set<() => Promise<void>>()
  const first = Promise.withResolvers<Edits>()
  let applying: Promise<unknown> = Promise.resolve()
  const reader = createReader(redis, faults, () => {
    applying = Promise.all(Array.from(followers, (apply) => apply()))
  })
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function look(): Promise<void> {
    const began = performance.now()
    try {
      first.resolve(await reader.refresh())
      faults.read()
      await applying
      freshness.inEffect(began)
    } catch (error) {
      faults.unreadable(error as Error)
    }
    if (!closed) timer = setTimeout(() => void look(), reader.last ? LOOK_MS : FIRST_LOOK_MS).unref()
  }

  void look()
  return {
    get edits() {
      return reader.last?.edits
    },
    first: first.promise,
    refresh: () => reader.refresh(),
    follow: (apply) => void followers.add(apply),
    get fresh() {
      return freshness.now
    },
    putDevice: (id, device, asOf) => writeDevice(redis, id, device, asOf),
    putRoutes: (edit, obsolete) => writeRoutes(redis, edit, obsolete),
    dropDeletions: (ids, asOf) => dropDeletions(redis, ids, asOf),
    async noteFiles(writes) {
      if ((await reader.refresh()).at === 0) return
      await writeMarks(redis, writes, reader.last ? forgettableMarks(reader.last) : [])
      await reader.refresh()
    },
    close() {
      closed = true
      clearTimeout(timer)
      freshness.close()
    },
  }
}

const LOOK_MS = 50
// The connection may not be open yet.
const FIRST_LOOK_MS = 20
