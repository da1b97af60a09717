import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { TlsConfig } from '../../src/config/schema.ts'
import type { Issued } from './certificates.ts'
import type { Peer } from './listen.ts'

/** The setting `tls` of a listener with this certificate. */
export function tlsWith({ files }: Issued, more: Partial<TlsConfig> = {}): TlsConfig {
  return { ...files, client_ca: null, profile: 'intermediate', ...more }
}

/** The other end of a connection with TLS. */
export interface SecurePeer extends Peer {
  readonly socket: TLSSocket
  /** Why it failed: the code of an error. */
  readonly failure: string | undefined
}

/** Connects to a server on this machine, and answers once the handshake is done or has failed. */
export async function dialTls(port: number, options: ConnectionOptions): Promise<SecurePeer> {
  const socket = connect({ host: '127.0.0.1', servername: 'localhost', port, ...options })
  onTestFinished(() => void socket.destroy())
  let heard = ''
  let over = false
  let failure: string | undefined
  socket.on('data', (bytes) => (heard += bytes.toString('latin1')))
  socket.on('end', () => (over = true))
  await new Promise<void>((resolve) => {
    socket.on('secureConnect', resolve)
    socket.on('error', (error: NodeJS.ErrnoException) => {
      failure = error.code
      resolve()
    })
    socket.on('close', () => {
      over = true
      resolve()
    })
  })
  return {
    socket,
    get heard() {
      return heard
    },
    get over() {
      return over
    },
    get failure() {
      return failure
    },
    say: (text) => void socket.write(text),
  }
}
