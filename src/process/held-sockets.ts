import * as dgram from 'node:dgram'
import * as net from 'node:net'
import type { ActivatedSocket, Address } from './activation.ts'

/** The file descriptors of each open socket, by its address. */
export type SocketFiles = Readonly<Record<string, readonly number[]>>

/**
 * The sockets that devices send to, held by the process that keeps their gateway running. The gateway listens on copies; while it
 * is started again, connections and datagrams wait in the system's queue of the socket, and none is refused.
 */
export class HeldSockets {
  readonly #files = new Map<string, number>()
  readonly #own: Pick<BoundSocket, 'close'>[] = []

  /**
   * `activated`: those that the service manager has opened; the others are opened here. An address that cannot be bound is left out:
   * the gateway tries it itself, and says what is wrong.
   */
  constructor(addresses: readonly Address[], activated: readonly ActivatedSocket[] = []) {
    for (const socket of activated) this.#files.set(keyOf(socket), socket.fd)
    for (const address of addresses) {
      if (this.#files.has(keyOf(address))) continue
      const socket = address.transport === 'udp' ? boundForDatagrams(address) : boundForConnections(address)
      if (!socket) continue
      this.#own.push(socket)
      this.#files.set(keyOf(address), socket.fd)
    }
  }

  /**
   * The sockets that a child process inherits behind its first `behind` descriptors, and which descriptors each of them
   * has there.
   */
  inherited(behind: number): { readonly stdio: readonly number[]; readonly files: SocketFiles } {
    const stdio: number[] = []
    const files = Array.from(this.#files, ([key, fd]) => {
      const copies = Array.from({ length: key.startsWith('udp') ? 1 : COPIES }, () => behind + stdio.push(fd) - 1)
      return [key, copies] as const
    })
    return { stdio, files: Object.fromEntries(files) }
  }

  close(): void {
    for (const socket of this.#own) socket.close()
    this.#files.clear()
  }
}

/** A socket that is bound, and neither listened on nor read. */
interface BoundSocket {
  readonly fd: number
  close(): void
}

function boundForConnections(address: Address): BoundSocket | undefined {
  // Node has it since 24.19.
  if (!net.BoundSocket) return undefined
  try {
    const socket = new net.BoundSocket(address)
    return { fd: socket.fd(), close: () => socket.close() }
  } catch {
    return undefined
  }
}

/**
 * Node has no public way to bind a socket for datagrams without reading it. Where this one, which is deprecated, is gone, the datagrams
 * of a restart are lost, and sent again.
 */
function boundForDatagrams({ host, port }: Address): BoundSocket | undefined {
  const { _createSocketHandle: create } = dgram as unknown as {
    readonly _createSocketHandle?: (host: string, port: number, type: 'udp4' | 'udp6') => BoundSocket | number
  }
  const { noDeprecation } = process
  process.noDeprecation = true
  const bound = create?.(host, port, net.isIPv6(host) ? 'udp6' : 'udp4')
  process.noDeprecation = noDeprecation
  return typeof bound === 'object' ? bound : undefined
}

/** The sockets that a process has inherited. */
export class InheritedSockets {
  readonly #files: Map<string, readonly number[]>

  constructor(files: SocketFiles = {}) {
    this.#files = new Map(Object.entries(files))
  }

  /** The descriptors for an address, once: who listens on them closes them. */
  take(address: Address): readonly number[] | undefined {
    const key = keyOf(address)
    const files = this.#files.get(key)
    this.#files.delete(key)
    return files
  }
}

/** The sockets of each port; see SOCKETS_EACH in listen/listener.ts. */
const COPIES = 4

function keyOf({ transport, host, port }: Address): string {
  return `${transport}/${host}:${port}`
}
