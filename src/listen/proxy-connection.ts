import type { Socket } from 'node:net'
import { type ProxyHeader, readProxyHeader } from './proxy-header.ts'

/**
 * Reads the PROXY header of a connection, and calls `done` with it; a connection without one is destroyed. What follows the
 * header is still unread then, and the socket is as if nobody had listened to it.
 */
export function receiveProxyHeader(socket: Socket, done: (header: ProxyHeader) => void): void {
  let received: Buffer = Buffer.alloc(0)
  const end = () => socket.destroy()
  const read = () => {
    const more = socket.read() as Buffer | null
    if (!more) return
    received = Buffer.concat([received, more])
    const header = readProxyHeader(received)
    if (header === 'incomplete') return
    socket.off('readable', read).off('end', end)
    if (header === 'invalid') {
      end()
      return
    }
    if (received.length > header.length) socket.unshift(received.subarray(header.length))
    // Only after that turn the stream has forgotten its reader: HTTP and TLS attach readers of their own.
    setImmediate(() => socket.destroyed || done(header))
  }
  socket.on('readable', read).on('end', end)
}
