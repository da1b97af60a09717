/** Somebody for whom bytes are held that are no whole frame or request yet. */
export interface Holder {
  /** How many; kept by `Held`. */
  heldBytes: number
  /** Whose connection it is; nobody's before it has been said. */
  readonly session?: { readonly device?: string }
  /** Lets go of them: all together have too many. */
  end(reason: 'memory'): void
}

/** What all listeners of a gateway hold of what is not complete yet: one budget. */
export interface Held {
  /** So many bytes are held for somebody now. Where it is too much in all, those who hold most are ended. */
  hold(holder: Holder, bytes: number): void
}

export function createHeld(maxBytes = 256 << 20): Held {
  const holders = new Set<Holder>()
  let all = 0

  function change(holder: Holder, bytes: number): void {
    all += bytes - holder.heldBytes
    holder.heldBytes = bytes
    if (bytes > 0) holders.add(holder)
    else holders.delete(holder)
  }

  /** An eighth at once, so that the search for whom to end is rare. */
  function shed(): void {
    for (const holder of [...holders].toSorted(inOrderOfEnding)) {
      if (all <= maxBytes * 0.875) break
      change(holder, 0)
      holder.end('memory')
    }
  }

  return {
    hold(holder, bytes) {
      if (bytes === holder.heldBytes) return
      change(holder, bytes)
      if (all > maxBytes) shed()
    },
  }
}

/** First those who have not said who they are, and of these the greediest. */
function inOrderOfEnding(one: Holder, other: Holder): number {
  return Number(isKnown(one)) - Number(isKnown(other)) || other.heldBytes - one.heldBytes
}

function isKnown({ session }: Holder): boolean {
  return session?.device !== undefined
}
