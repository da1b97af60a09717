import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '../../async.ts'
import type { Logger } from '../../observe/log.ts'
import { acceptedFile, keepAccepted } from '../../roster/accepted.ts'
import type { FileWrites } from '../../roster/edits.ts'
import type { Roster } from '../../roster/index.ts'
import type { Loaded } from '../../roster/load.ts'
import type { Change } from '../../roster/watch.ts'

/** Notes of what files say, for the other processes and those that start later. */
export interface Notes {
  /**
   * Writes down in the roster, where there is one, what a change of files has written, then keeps the files' texts; in the
   * order of the calls. Resolves once the roster has it, or after a second.
   */
  add(change: Change, roster: Roster | undefined): Promise<void>
  /** Resolves once all is noted, or cannot be soon: what is not is found again at the next start, by the texts of before. */
  close(): Promise<void>
}

export interface NotesOptions {
  readonly logger: Logger
  /** Whether this process keeps the texts: one of several on a machine does. */
  readonly keeps: boolean
}

export function createNotes({ logger, keeps }: NotesOptions): Notes {
  const closing = new AbortController()
  let noting: Promise<void> = Promise.resolve()

  async function note({ loaded, writes }: Change, roster: Roster | undefined, noted: () => void) {
    const isNews = writes.written.length + writes.gone.length > 0
    if (isNews && roster && !(await isNoted(roster, writes))) return
    noted()
    if (keeps) await keep(loaded, logger)
  }

  /** Tries until Redis answers; false where it did not before the end. */
  async function isNoted(roster: Roster, writes: FileWrites): Promise<boolean> {
    let fault = ''
    do {
      try {
        await roster.noteFiles(writes)
        return true
      } catch (error) {
        const { message } = error as Error
        if (message !== fault) logger.error({ err: error }, 'what files say anew cannot be noted in Redis: tried again')
        fault = message
        await sleep(RETRY_MS, undefined, { ref: false })
      }
    } while (!closing.signal.aborted)
    return false
  }

  return {
    add(change, roster) {
      const noted = Promise.withResolvers<void>()
      noting = noting.then(() => note(change, roster, noted.resolve))
      return within(PATIENCE_MS, noted.promise)
    },
    async close() {
      closing.abort()
      await within(LAST_NOTES_MS, noting)
    },
  }
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
const PATIENCE_MS = 1000
const LAST_NOTES_MS = 500
