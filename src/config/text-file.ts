import { readFile, stat } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { ConfigError } from './problem.ts'

/** Resolves to the text of a file; undefined if it does not exist. @throws ConfigError if it cannot be read. */
export function readTextFile(file: string): Promise<string | undefined> {
  return ifThere(readFile(file, 'utf8'), file)
}

/** Undefined only if the file does not exist: a file that cannot be read for a moment must not look deleted. */
export async function ifThere<Found>(reading: Promise<Found>, file: string): Promise<Found | undefined> {
  try {
    return await reading
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw unreadable(file, `cannot be read (${code})`)
  }
}

export function unreadable(file: string, message: string): ConfigError {
  return new ConfigError([{ severity: 'mistake', file, message }])
}

/** Resolves to a text that changes whenever the file is written or replaced, also through a link, without reading the file. */
export async function fingerprintOf(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch(() => undefined)
  return found ? `${file} ${found.dev} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}` : file
}

export type Following = ReturnType<typeof follow>

/**
 * Calls `changed` at once; then compares fingerprints four times a second, and calls it when a new one is the same twice in a
 * row. So renames, links, slow writers and network file systems are all one case. @param print finds the fingerprint of all
 * followed files @param changed reads the files; false: call it again after a second
 */
export function follow(print: () => Promise<string>, changed: () => Promise<boolean>) {
  const closing = new AbortController()
  let done = false
  const poll = async () => {
    let seen = await print()
    done = await changed()
    let settled = false
    for (let polls = 1; await setTimeout(POLL_MS, true, { signal: closing.signal }).catch(() => false); polls++) {
      const now = await print()
      if (now === seen && (!settled || (!done && polls % POLLS_A_SECOND === 0))) done = await changed()
      settled = now === seen
      seen = now
    }
  }
  const polling = poll()
  return {
    /** Has `changed` called within a second, although nothing changes. */
    again() {
      done = false
    },
    close() {
      closing.abort()
      return polling
    },
  }
}

const POLL_MS = 250
const POLLS_A_SECOND = 1000 / POLL_MS
