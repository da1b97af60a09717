import type { DeviceSession } from '../../ingest/device.ts'

/**
 * Who speaks from which address and port. A conversation is remembered once it is known whose it is, so that made-up
 * senders take nobody's place, and forgotten when it is idle, or as one of the oldest of too many.
 */
export interface Conversations {
  find(remote: string): DeviceSession | undefined
  remember(session: DeviceSession): void
  close(): void
}

/**
 * `most`: how many are remembered, rounded up to an even number. In two generations: whoever speaks moves to the younger, and the elder is dropped as a whole when the younger is full or
 * has lasted for `idleMs`. So nothing ever has to be searched for.
 */
export function createConversations(most: number, idleMs: number): Conversations {
  const full = Math.ceil(most / 2)
  let young = new Map<string, DeviceSession>()
  let old = young

  function age(): void {
    old = young
    young = new Map()
  }

  const timer = setInterval(age, Math.min(idleMs, LONGEST_INTERVAL_MS))
  return {
    find(remote) {
      const session = young.get(remote) ?? old.get(remote)
      return session && Date.now() - session.now <= idleMs ? session : undefined
    },
    remember(session) {
      if (session.device === undefined || young.get(session.remote) === session) return
      if (young.size >= full) age()
      young.set(session.remote, session)
    },
    close: () => clearInterval(timer),
  }
}

const LONGEST_INTERVAL_MS = 2 ** 31 - 1
