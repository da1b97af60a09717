import { type Edits, NO_EDITS } from './edits.ts'
import { fingerprint, isSame, readFiles } from './files.ts'
import { ConfigError, problemText } from './problem.ts'
import { type Change, changeTo, unreadable } from './reload.ts'
import type { Protocols } from './schema.ts'

export type { Change } from './reload.ts'

export interface WatchOptions {
  readonly dir: string
  readonly protocols: Protocols
  /** What is in effect already. */
  readonly start: Change
  /** What was written through the admin port: another object whenever that has changed. */
  readonly edits?: () => Edits
}

/**
 * Follows the files of a configuration: devices, routes and companies take effect within half a second of the last change
 * of a file. What is wrong leaves what was in effect of it as it is; so does a set of routes that would take the route from
 * more than half of the devices that have one now, until old lines have ended and it does no more. Edits take effect as
 * soon. `onChange` hears of every change of the files' text, and of edits.
 *
 * The files are looked at ten times a second, a system call each, and read once they look the same twice: so a file that is
 * replaced by rename or behind a link, or written slowly, is seen like any other, on every kind of file system.
 */
export async function watchConfig(
  { dir, protocols, start, edits = () => NO_EDITS }: WatchOptions,
  onChange: (change: Change) => void,
): Promise<{ close(): Promise<void> }> {
  // The files may have changed since they were loaded: the first look always reads them.
  let seen = await fingerprint(dir)
  let settled = false
  let last = start
  let looks = 0

  const poll = async () => {
    const print = await fingerprint(dir)
    const same = print === seen
    seen = print
    const unsettled = last.lossy || !last.read
    const edited = edits() !== last.loaded.edits
    if (same && (!settled || edited || (unsettled && ++looks % LOOKS_A_SECOND === 0))) {
      const change = await reload(dir, protocols, last, edits())
      last = change ?? last
      if (change && !closed) onChange(change)
    }
    settled = same
    if (!closed) timer = setTimeout(look, POLL_MS)
  }
  const look = () => {
    polling = poll()
  }

  let closed = false
  let polling: Promise<void> = Promise.resolve()
  let timer = setTimeout(look, POLL_MS)
  return {
    close: async () => {
      closed = true
      clearTimeout(timer)
      await polling
    },
  }
}

/** Reads the files and says what becomes of them and of edits; undefined where there is nothing to say since `last`. */
async function reload(dir: string, protocols: Protocols, last: Change, edits: Edits): Promise<Change | undefined> {
  const { loaded } = last
  const edited = edits !== loaded.edits
  try {
    const options = { protocols, zone: loaded.config.time_zone, previous: last.read ?? loaded.files }
    const read = await readFiles(dir, options)
    const same = last.read && isSame(read, last.read)
    if (same && !last.lossy && !edited) return undefined
    const change = await changeTo(read, loaded, Date.now(), edits)
    return same && change.lossy && !edited ? undefined : change
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const known = !last.read && last.refused.map(problemText).join('\n') === error.message
    return known && !edited ? undefined : unreadable(loaded, error.mistakes, edits)
  }
}

const POLL_MS = 100
const LOOKS_A_SECOND = 1000 / POLL_MS
