import { readFileSync, readlinkSync } from 'node:fs'

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
 * The sockets that systemd has given to this process (`waybridge.socket`), by their addresses; empty if it has given
 * none. Removes the variables that announce them from the environment: the processes that are started from here have
 * other descriptors.
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

/** `0100007F` is 127.0.0.1: words of four bytes, of which the last is the first. */
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

/** systemd's. */
const FIRST_FD = 3
const TABLES = [
  ['tcp', 'tcp'],
  ['tcp6', 'tcp'],
  ['udp', 'udp'],
  ['udp6', 'udp'],
] as const
