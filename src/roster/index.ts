import type { Device } from '../config/directory.ts'
import type { Edits, FileWrites, RouteEdit } from '../config/edits.ts'
import type { Obsolete } from '../config/puts.ts'
import { type Redis, rosterWrittenAt } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { reportFaults } from './faults.ts'
import { watchFreshness } from './freshness.ts'
import { readEdits, type Reading } from './read.ts'
import { writeDevice, writeMarks, writeRoutes } from './write.ts'

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
  /** Puts a device, or, null, deletes it. @returns the time of the write, as in `Edits` */
  putDevice(id: string, device: Device | null): Promise<number>
  /**
   * Puts lines in place of others; what is `obsolete` of earlier puts goes, unless there was a write that it does not know
   * of: the next put sees to it then. @returns the time of the write, as in `Edits`
   */
  putRoutes(edit: Omit<RouteEdit, 'at'>, obsolete?: Obsolete): Promise<number>
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
  let known: Reading | undefined
  let reading: Promise<Edits> | undefined
  let applying: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let closed = false

  /** Who asks while it is being read gets the result of the next reading: that one sees all that was before the question. */
  async function refresh(): Promise<Edits> {
    if (reading) await reading.catch(() => {})
    reading ??= read().finally(() => (reading = undefined))
    return reading
  }

  async function read(): Promise<Edits> {
    const before = known?.edits
    if (before && (await rosterWrittenAt(redis)) === before.at) return before
    known = await readEdits(redis, before)
    const { edits } = known
    if (before && edits.at < before.at) faults.older(edits.at, before.at)
    applying = Promise.all(Array.from(followers, (apply) => apply()))
    return edits
  }

  async function look(): Promise<void> {
    const began = performance.now()
    try {
      first.resolve(await refresh())
      faults.read()
      await applying
      freshness.inEffect(began)
    } catch (error) {
      faults.unreadable(error as Error)
    }
    if (!closed) timer = setTimeout(() => void look(), known ? LOOK_MS : FIRST_LOOK_MS).unref()
  }

  void look()
  return {
    get edits() {
      return known?.edits
    },
    first: first.promise,
    refresh,
    follow: (apply) => void followers.add(apply),
    get fresh() {
      return freshness.now
    },
    putDevice: (id, device) => writeDevice(redis, id, device),
    putRoutes: (edit, obsolete: Partial<Obsolete> = {}) => writeRoutes(redis, edit, obsolete),
    async noteFiles(writes) {
      if ((await refresh()).at === 0) return
      await writeMarks(redis, writes, known?.forgettable ?? [])
      await refresh()
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
