import type https from 'node:https'
import net from 'node:net'

/**
 * A port with TLS that answers what comes without it, as nginx and Go do, and passes the rest on to a server. `answer`: undefined
 * while there is no TLS yet: then every connection is cut.
 */
export function securePort(secure: https.Server, answer: () => string | undefined): net.Server {
  return net.createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (bytes: Buffer) => {
      const text = answer()
      if (text === undefined) socket.resetAndDestroy()
      else if (bytes[0] !== HANDSHAKE) socket.end(text)
      else {
        socket.pause()
        socket.unshift(bytes)
        secure.emit('connection', socket)
      }
    })
  })
}

const HANDSHAKE = 0x16
