export interface FollowOptions {
  /** What tells whether something may have changed. */
  readonly print: () => Promise<string>
  /** Takes what there is; false: again after a second. */
  readonly changed: () => Promise<boolean>
}

export interface Following {
  /** Resolves once `changed` has been called for the first time. */
  readonly first: Promise<void>
  close(): Promise<void>
}

/**
 * Calls `changed` at once; then looks ten times a second, and calls it when the print is the same twice in a row. So a file
 * that is replaced by rename or behind a link, or written slowly, is seen like any other, on every kind of file system.
 */
export function follow({ print, changed }: FollowOptions): Following {
  let seen: string | undefined
  let settled = false
  let done = false
  let looks = 0

  const poll = async () => {
    const now = await print()
    const [first, same] = [seen === undefined, now === seen]
    seen = now
    const due = !settled || (!done && ++looks % LOOKS_A_SECOND === 0)
    if (first || (same && due)) done = await changed()
    settled = same
    if (!closed) timer = setTimeout(look, POLL_MS)
  }
  const look = () => {
    polling = poll()
  }

  let closed = false
  let timer: NodeJS.Timeout | undefined
  let polling = poll()
  return {
    first: polling,
    close: async () => {
      closed = true
      clearTimeout(timer)
      await polling
    },
  }
}

const POLL_MS = 100
const LOOKS_A_SECOND = 1000 / POLL_MS
