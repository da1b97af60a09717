import * as net from 'node:net'

/** A port, and the IP address on which it is opened. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** The file descriptors of each open socket, by `host:port`. */
export type SocketFiles = Readonly<Record<string, readonly number[]>>

/**
 * The TCP sockets that devices connect to, held by the process that keeps their gateway running. The gateway listens on
 * copies; while it is started again, connections wait in the system's queue of the socket, and none is refused.
 */
export class HeldSockets {
  readonly #sockets = new Map<string, net.BoundSocket>()

  /** An address that cannot be bound is left out: the gateway tries it itself, and says what is wrong. */
  constructor(addresses: readonly Address[]) {
    // Node has it since 24.19.
    if (!net.BoundSocket) return
    for (const address of addresses) {
      try {
        this.#sockets.set(keyOf(address), new net.BoundSocket(address))
      } catch {}
    }
  }

  /**
   * The sockets that a child process inherits behind its first `behind` descriptors, and which descriptors each of them
   * has there.
   */
  inherited(behind: number): { readonly stdio: readonly number[]; readonly files: SocketFiles } {
    const each = [...this.#sockets].map(([key, socket], at) => {
      const copies = Array.from({ length: COPIES }, (_, copy) => behind + at * COPIES + copy)
      return { stdio: copies.map(() => socket.fd()), file: [key, copies] as const }
    })
    return { stdio: each.flatMap(({ stdio }) => stdio), files: Object.fromEntries(each.map(({ file }) => file)) }
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.close()
    this.#sockets.clear()
  }
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

/** listen/listener.ts says why. */
const COPIES = 4

function keyOf({ host, port }: Address): string {
  return `${host}:${port}`
}
