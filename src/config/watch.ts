import { type Edits, NO_EDITS } from './edits.ts'
import { fingerprint, isSame, readFiles } from './files.ts'
import { follow } from './follow.ts'
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
 * soon. `onChange` hears of every change of the files' text, and of edits. The files may have changed since `start` was
 * loaded: the first look always reads them.
 */
export function watchConfig(
  { dir, protocols, start, edits = () => NO_EDITS }: WatchOptions,
  onChange: (change: Change) => void,
): { close(): Promise<void> } {
  let last = start
  let closed = false

  const following = follow({
    print: () => fingerprint(dir),
    changed: async () => {
      const change = await reload(dir, protocols, last, edits())
      last = change ?? last
      if (change && !closed) onChange(change)
      return !last.lossy && last.read !== undefined
    },
    urgent: () => edits() !== last.loaded.edits,
  })
  return {
    close() {
      closed = true
      return following.close()
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
