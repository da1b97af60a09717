import type { Socket } from 'node:net'
import { createServer, type PeerCertificate, type Server, type TLSSocket } from 'node:tls'
import { ServedCertificate } from '../../config/certificate.ts'
import type { TlsConfig } from '../../config/schema.ts'
import type { Shared } from '../wire/listener.ts'

type Secured = (socket: TLSSocket, certificate: string | undefined) => void

/** Does the TLS handshakes of one listener with the certificate in effect. */
export class TlsHandshakes {
  readonly #certificate: ServedCertificate
  readonly #server: Server
  /** Callbacks of handshakes that are under way, by the addresses of the connection. */
  readonly #underWay = new Map<string, Secured>()

  /** @throws UserError if the certificate cannot be used */
  constructor(config: TlsConfig, name: string, { limits, logger }: Pick<Shared, 'limits' | 'logger'>) {
    this.#certificate = new ServedCertificate(config, name)
    const needsClient = config.client_ca !== null
    this.#server = createServer({
      ...this.#certificate.context,
      requestCert: needsClient,
      rejectUnauthorized: needsClient,
      handshakeTimeout: limits.identify_timeout,
    })
    this.#server.on('secureConnection', (socket) => this.#secured(socket))
    this.#server.on('tlsClientError', ({ code }: NodeJS.ErrnoException, { remoteAddress: remote }) =>
      logger.debug({ reason: 'tls', listener: name, remote, code }, 'TLS handshake failed'),
    )
    this.#certificate.follow((context) => {
      this.#server.setSecureContext(context)
      logger.info({ listener: name }, 'the new certificate is in effect')
    })
  }

  /** Does the handshake and calls `secured` with the result; closes the socket if it fails. */
  receive(socket: Socket, secured: Secured): void {
    const ends = endsOf(socket)
    const { allowHalfOpen } = socket
    // A client that ends its side during the handshake gets no answer any more.
    socket.allowHalfOpen = false
    this.#underWay.set(ends, (secure, certificate) => {
      secure.allowHalfOpen = allowHalfOpen
      secured(secure, certificate)
    })
    socket.on('close', () => this.#underWay.delete(ends))
    this.#server.emit('connection', socket)
  }

  close(): Promise<void> {
    return this.#certificate.close()
  }

  #secured(socket: TLSSocket): void {
    const ends = endsOf(socket)
    const secured = this.#underWay.get(ends)
    this.#underWay.delete(ends)
    if (secured) secured(socket, nameIn(socket.getPeerCertificate()))
    else socket.destroy()
  }
}

/** The first record of a handshake: `16 vv vv LL LL`, then LL bytes, big-endian. It is read without being consumed. */
export function readClientHello(bytes: Buffer): { readonly length: 0 } | 'incomplete' | 'invalid' {
  if (bytes[0] !== HANDSHAKE) return 'invalid'
  if (bytes.length < RECORD_HEAD) return 'incomplete'
  const length = RECORD_HEAD + bytes.readUInt16BE(3)
  if (length > MAX_HELLO_BYTES) return 'invalid'
  return bytes.length < length ? 'incomplete' : { length: 0 }
}

const HANDSHAKE = 0x16
const RECORD_HEAD = 5
/** A ClientHello with post-quantum keys and a session ticket that holds a certificate has about 5 KB. */
const MAX_HELLO_BYTES = 8192

/**
 * Returns a text that identifies an open connection by its addresses, because node:tls does not tell which socket carries a
 * TLS socket.
 */
function endsOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`
}

/** The name of a client certificate: its CN, else its first DNS name or URI. */
function nameIn({ subject, subjectaltname = '' }: Partial<PeerCertificate>): string | undefined {
  const [, alternative] = /(?:^|, )(?:DNS|URI):([^,"]+)/.exec(subjectaltname) ?? []
  return [subject?.CN].flat()[0] ?? alternative
}
