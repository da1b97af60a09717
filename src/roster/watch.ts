import { inTurns } from '../async.ts'
import { ConfigError, problemText } from '../config/problem.ts'
import type { Protocols } from '../config/schema.ts'
import { follow } from '../config/text-file.ts'
import { type Edits, NO_EDITS } from './edits.ts'
import { type Files, fingerprint, isSame, readFiles } from './files.ts'
import type { Loaded } from './load.ts'
import { type Change, changeTo, lossOfRoutes, unread, unreadable, withEdits } from './reload.ts'

export type { Change } from './reload.ts'

export interface WatchOptions {
  readonly dir: string
  readonly protocols: Protocols
  /** What is in effect already. */
  readonly start: Loaded
  /** What was written through the admin port: another object whenever that has changed. */
  readonly edits?: () => Edits
  /** Writes down what a change of files has written; resolves once `edits` has it, or it cannot be had soon. */
  readonly note?: (change: Change) => Promise<void>
}

export interface Watchers {
  /** Hears what became of the files as they are at first, and of every change of their text. */
  readonly files: (change: Change) => void
  /** Hears what is in effect with other edits. */
  readonly edits: (loaded: Loaded) => void
}

export interface Watch {
  /** Resolves once edits and files have taken effect as they are at first. */
  readonly first: Promise<void>
  /** Resolves once the edits of now are in effect. They do not wait for files that are being written. */
  edited(): Promise<void>
  close(): Promise<void>
}

/**
 * Follows the files of a configuration: devices, routes and companies take effect within half a second of the last change
 * of a file. What is wrong leaves what was in effect of it as it is; so does a set of routes that would take the route from
 * more than half of the devices that have one now, until old lines have ended and it does no more.
 */
export function watchConfig(options: WatchOptions, on: Watchers): Watch {
  const { dir, protocols, start, edits = () => NO_EDITS, note = async () => {} } = options
  const inTurn = inTurns()
  let last = unread(start)
  let closed = false

  const edited = () =>
    inTurn(async () => {
      const now = await upToDate(last, edits())
      if (now === last) return
      last = now
      if (!closed) on.edits(last.loaded)
    })

  async function look(): Promise<boolean> {
    const read = await readAsOf(last, dir, protocols)
    await inTurn(async () => {
      const change = await changeOf(read, last)
      if (!change) return
      await note(change)
      last = await upToDate(change, edits())
      if (!closed) on.files(last)
    })
    return !last.withLoss && last.read !== undefined
  }

  void edited()
  const following = follow({ print: () => fingerprint(dir), changed: look })
  return {
    first: following.first,
    edited,
    close() {
      closed = true
      return following.close()
    },
  }
}

/** A change with the edits of now: what its files have written is among them. */
async function upToDate(change: Change, edits: Edits): Promise<Change> {
  return edits === change.loaded.edits ? change : { ...change, loaded: await withEdits(change.loaded, edits) }
}

/** The files, those that are as they were taken from before; or why they cannot be read. */
async function readAsOf({ loaded, read }: Change, dir: string, protocols: Protocols): Promise<Files | ConfigError> {
  try {
    return await readFiles(dir, { protocols, zone: loaded.config.time_zone, previous: read ?? loaded.files })
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}

/** What becomes of files; undefined where there is nothing to say since `last`. */
async function changeOf(read: Files | ConfigError, last: Change): Promise<Change | undefined> {
  if (read instanceof ConfigError) {
    const known = !last.read && last.refused.map(problemText).join('\n') === read.message
    return known ? undefined : unreadable(last.loaded, read.mistakes)
  }
  const now = Date.now()
  const same = last.read !== undefined && isSame(read, last.read)
  const due = last.withLoss && !lossOfRoutes(last.loaded.directory, last.withLoss, now)
  if (same && !due) return undefined
  const change = await changeTo(read, last.loaded, now)
  return same && change.withLoss ? undefined : change
}
