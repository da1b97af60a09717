/**
 * Looks ten times a second at what tells whether something may have changed, and calls `changed` once that is the same
 * twice in a row, at first in any case; where it answers false, again after a second. So a file that is replaced by rename
 * or written slowly is seen like any other, on every kind of file system.
 */
export function follow(print: () => Promise<string>, changed: () => Promise<boolean>): { close(): Promise<void> } {
  let seen: string | undefined
  let settled = false
  let done = false
  let looks = 0

  const poll = async () => {
    const now = await print()
    const same = now === seen
    seen = now
    if (same && (!settled || (!done && ++looks % LOOKS_A_SECOND === 0))) done = await changed()
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

const POLL_MS = 100
const LOOKS_A_SECOND = 1000 / POLL_MS
