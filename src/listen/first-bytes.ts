import type { Socket } from 'node:net'
import type { Backpressure } from './backpressure.ts'

/** What is read of the beginning of a connection. */
interface Beginning<Start> {
  /** `incomplete`: more bytes may make it one; `invalid`: none can. `length`: bytes that are not passed on. */
  readonly read: (bytes: Buffer) => Start | 'incomplete' | 'invalid'
  readonly pressure: Backpressure
}

/**
 * Reads the first bytes of a connection, and calls `done` with what they are; a connection with others is destroyed. What
 * follows is still unread then, and the socket is as if nobody had listened to it.
 */
export function receiveFirstBytes<Start extends { readonly length: number }>(
  socket: Socket,
  { read, pressure }: Beginning<Start>,
  done: (start: Start) => void,
): void {
  const sender = { partialBytes: 0, abort: end }
  let received: Buffer = Buffer.alloc(0)

  function receive(): void {
    const more = socket.read() as Buffer | null
    if (!more) return
    received = Buffer.concat([received, more])
    const start = read(received)
    pressure.setPartial(sender, start === 'incomplete' ? received.length : 0)
    if (start === 'incomplete') return
    socket.off('readable', receive).off('end', end)
    if (start === 'invalid') {
      end()
      return
    }
    if (received.length > start.length) socket.unshift(received.subarray(start.length))
    // Only after that turn the stream has forgotten its reader: HTTP and TLS attach readers of their own.
    setImmediate(() => socket.destroyed || done(start))
  }

  function end(): void {
    socket.destroy()
  }

  socket.on('readable', receive).on('end', end)
  socket.on('close', () => pressure.setPartial(sender, 0))
}
