/** Bytes of a stream or body of which not all is there yet. */
export interface Unread {
  bytes: Buffer
  /** Where `bytes` lie, with room behind them; empty as long as they are as they came. */
  room: Buffer
}

export function createUnread(): Unread {
  return { bytes: EMPTY, room: EMPTY }
}

/** Adds bytes behind those that are there: it costs what is added, however little comes at a time. */
export function append(unread: Unread, more: Buffer): void {
  const { bytes } = unread
  if (bytes.length === 0) {
    unread.bytes = more
    return
  }
  const length = bytes.length + more.length
  if (length > unread.room.length) {
    unread.room = Buffer.allocUnsafeSlow(length * 2)
    unread.room.set(bytes)
  }
  unread.room.set(more, bytes.length)
  unread.bytes = unread.room.subarray(0, length)
}

/** Keeps the end of the bytes alone, on its own: views of the others may be in use. */
export function keep(unread: Unread, rest: Buffer): void {
  if (rest.length === unread.bytes.length) return
  unread.room = EMPTY
  unread.bytes = EMPTY
  if (rest.length === 0) return
  // Not from the pool: a few bytes would keep all of a slab.
  unread.bytes = Buffer.allocUnsafeSlow(rest.length)
  unread.bytes.set(rest)
}

/** Memory that they take, bytes. */
export function sizeOf({ bytes, room }: Unread): number {
  return Math.max(bytes.length, room.length)
}

const EMPTY = Buffer.alloc(0)
