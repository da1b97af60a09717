import { type Files, fingerprint, readFiles } from './files.ts'
import type { Loaded } from './load.ts'
import { ConfigError } from './problem.ts'
import { type Change, changeTo, isSame } from './reload.ts'
import type { Protocols } from './schema.ts'

export type { Change } from './reload.ts'

/**
 * Follows the files of a configuration: devices, routes and companies take effect within half a second of the last change
 * of a file. What is wrong leaves what was in effect of it as it is; so does a set of routes that would take the route from
 * more than half of the devices that have one now, until old lines have ended and it does no more. `onChange` hears of every change of the files' text.
 *
 * The files are looked at ten times a second, a system call each, and read once they look the same twice: so a file that is
 * replaced by rename or behind a link, or written slowly, is seen like any other, on every kind of file system.
 */
export async function watchConfig(
  dir: string,
  protocols: Protocols,
  loaded: Loaded,
  onChange: (change: Change) => void,
): Promise<{ close(): Promise<void> }> {
  const reload = reloader(dir, protocols, loaded)
  // The files may have changed since they were loaded: the first look always reads them.
  let seen = await fingerprint(dir)
  let settled = false
  let lossy = false
  let looks = 0

  const poll = async () => {
    const print = await fingerprint(dir)
    const same = print === seen
    seen = print
    if (same && (!settled || (lossy && ++looks % LOOKS_A_SECOND === 0))) {
      const change = await reload()
      lossy = change?.lossy ?? lossy
      if (change && !closed) onChange(change)
    }
    settled = same
    if (!closed) timer = setTimeout(start, POLL_MS)
  }
  const start = () => {
    polling = poll()
  }

  let closed = false
  let polling: Promise<void> = Promise.resolve()
  let timer = setTimeout(start, POLL_MS)
  return {
    close: async () => {
      closed = true
      clearTimeout(timer)
      await polling
    },
  }
}

/** Reads the files and says what becomes of them; undefined where they are what they were at the last call. */
function reloader(dir: string, protocols: Protocols, loaded: Loaded): () => Promise<Change | undefined> {
  let running = loaded
  let examined: Files | undefined = loaded.files
  let lossy = false
  const zone = loaded.config.time_zone
  return async () => {
    try {
      const read = await readFiles(dir, { protocols, zone, previous: examined ?? running.files })
      const same = examined && isSame(all(read), all(examined))
      if (same && !lossy) return undefined
      examined = read
      const change = changeTo(read, running, Date.now())
      if (same && change.lossy) return undefined
      lossy = change.lossy
      running = change.loaded
      return change
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      examined = undefined
      return { loaded: running, refused: error.mistakes, lossy: false, atNextStart: [] }
    }
  }
}

function all({ gateway, devices, routes }: Files) {
  return [gateway, ...devices, ...routes]
}

const POLL_MS = 100
const LOOKS_A_SECOND = 1000 / POLL_MS
