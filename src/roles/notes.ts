import { setTimeout as sleep } from 'node:timers/promises'
import { acceptedFile, keepAccepted } from '../config/accepted.ts'
import type { FileWrites } from '../config/edits.ts'
import type { Loaded } from '../config/load.ts'
import type { Change } from '../config/watch.ts'
import type { Logger } from '../observe/log.ts'
import type { Roster } from '../roster/index.ts'

/** Notes of what is in effect of the files, for those that start later. */
export interface Notes {
  /** Notes what a change of files has written to the roster, then keeps the files' texts; in the order of the calls. */
  add(change: Change): void
  /** Until it is known where the roster is, nothing is noted that it has to know of. */
  join(roster: Roster): void
  /** Resolves once all is noted, or cannot be. */
  close(): Promise<void>
}

export function createNotes(logger: Logger): Notes {
  const joined = Promise.withResolvers<Roster | undefined>()
  const closing = new AbortController()
  let noting: Promise<void> = Promise.resolve()

  /** What is not noted is found again at the next start: the texts of before are still kept then. */
  async function note({ loaded, writes }: Change): Promise<void> {
    if (writes.written.length + writes.gone.length > 0) {
      const roster = await joined.promise
      if (!roster || !(await isNoted(roster, writes, closing.signal))) return
    }
    await keep(loaded, logger)
  }

  return {
    add(change) {
      noting = noting.then(() => note(change))
    },
    join: (roster) => joined.resolve(roster),
    async close() {
      closing.abort()
      joined.resolve(undefined)
      await noting
    },
  }
}

/** Tries until Redis answers; false where it did not before the end. */
async function isNoted(roster: Roster, writes: FileWrites, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await roster.noteFiles(writes)
      return true
    } catch {
      await sleep(RETRY_MS, undefined, { ref: false })
    }
  }
  return false
}

/** Where it fails, only the next start is concerned: it takes what is on disk then. */
async function keep({ config, files }: Loaded, logger: Logger): Promise<void> {
  await keepAccepted(config.data_dir, files).catch((error: NodeJS.ErrnoException) => {
    logger.warn(
      `${acceptedFile(config.data_dir)} cannot be written (${error.code}): a restart will not know what was refused`,
    )
  })
}

const RETRY_MS = 200
