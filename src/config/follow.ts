export interface FollowOptions {
  /** What tells whether something may have changed. */
  readonly print: () => Promise<string>
  /** Takes what there is; false: again after a second. */
  readonly changed: () => Promise<boolean>
  /** Whether `changed` is to be called for another reason. */
  readonly urgent?: () => boolean
}

/**
 * Looks ten times a second, and calls `changed` once the print is the same twice in a row, at first in any case. So a file
 * that is replaced by rename or behind a link, or written slowly, is seen like any other, on every kind of file system.
 */
export function follow({ print, changed, urgent = () => false }: FollowOptions): { close(): Promise<void> } {
  let seen: string | undefined
  let settled = false
  let done = false
  let looks = 0

  const poll = async () => {
    const now = await print()
    const same = now === seen
    seen = now
    const due = !settled || urgent() || (!done && ++looks % LOOKS_A_SECOND === 0)
    if (same && due) done = await changed()
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
