import { readFileSync, readlinkSync } from 'node:fs'
import * as net from 'node:net'
import { type BoundSocket, boundForDatagrams } from './datagram-socket.ts'

/** The file descriptors of each open socket, by its address. */
export type SocketFiles = Readonly<Record<string, readonly number[]>>

/**
 * The sockets that devices send to, held by the process that keeps their gateway running. The gateway listens on copies;
 * while it restarts, connections and datagrams wait in the system's queue of the socket, and none is refused.
 */
export class HeldSockets {
  readonly #files = new Map<string, number>()
  readonly #own: Pick<BoundSocket, 'close'>[] = []

  /**
   * `activated`: those that the service manager has opened; the others are opened here. An address that cannot be bound is
   * skipped: the gateway tries it itself, and reports the error.
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
   * Returns the sockets that a child process inherits after its first `behind` descriptors, with the descriptors of each
   * address there.
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

export class InheritedSockets {
  readonly #files: Map<string, readonly number[]>

  constructor(files: SocketFiles = {}) {
    this.#files = new Map(Object.entries(files))
  }

  /** Returns the descriptors for an address, once: the listener closes them. */
  take(address: Address): readonly number[] | undefined {
    const key = keyOf(address)
    const files = this.#files.get(key)
    this.#files.delete(key)
    return files
  }
}

function keyOf({ transport, host, port }: Address): string {
  return `${transport}/${host}:${port}`
}

/** A port, and the IP address on which it is opened. */
export interface Address {
  readonly transport: 'tcp' | 'udp'
  readonly host: string
  readonly port: number
}

/** A socket that the service manager has opened, and keeps open while the service is started again. */
export interface ActivatedSocket extends Address {
  readonly fd: number
}

/**
 * Returns the sockets that systemd has given to this process (`waybridge.socket`), by address; empty if there are none.
 * Removes the variables that announce them from the environment, because child processes have other descriptors.
 */
export function activatedSockets(environment: NodeJS.ProcessEnv): ActivatedSocket[] {
  const { LISTEN_PID, LISTEN_FDS } = environment
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete environment[name]
  if (Number(LISTEN_PID) !== process.pid) return []
  const files = Array.from({ length: Number(LISTEN_FDS) }, (_, at) => FIRST_FD + at)
  const addresses = new Map(TABLES.flatMap(([table, transport]) => addressesIn(table, transport)))
  return files.flatMap((fd) => {
    const address = addresses.get(inodeOf(fd))
    return address ? [{ ...address, fd }] : []
  })
}

/** The addresses of this machine's sockets, by their inodes. */
function addressesIn(table: string, transport: Address['transport']): [inode: string, address: Address][] {
  const lines = readFileSync(`/proc/self/net/${table}`, 'utf8').trim().split('\n').slice(1)
  return lines.map((line) => {
    const [, local, , , , , , , , inode] = line.trim().split(/\s+/)
    const [host, port] = local.split(':')
    return [inode, { transport, host: hostOf(host), port: Number.parseInt(port, 16) }]
  })
}

/** `0100007F` is 127.0.0.1: words of four bytes in reverse order. */
function hostOf(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32()
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16))
  // The usual spelling: the shortest text for the same address.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

/** The sockets of a network namespace are named by their inodes: `socket:[4711]`. */
function inodeOf(fd: number): string {
  return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1] ?? ''
}

/** The sockets of each port; see SOCKETS_EACH in gateway/wire/listener.ts. */
const COPIES = 4
/** systemd's. */
const FIRST_FD = 3
const TABLES = [
  ['tcp', 'tcp'],
  ['tcp6', 'tcp'],
  ['udp', 'udp'],
  ['udp6', 'udp'],
] as const
