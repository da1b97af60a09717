import { isIPv4, isIPv6, SocketAddress } from 'node:net'

/**
 * The PROXY protocol (haproxy.org/download/3.2/doc/proxy-protocol.txt): what a proxy writes in front of a connection.
 *
 *   v1, text:   PROXY TCP4 203.0.113.7 192.0.2.1 51234 5027 CR LF        TCP6 likewise; UNKNOWN …: the proxy itself
 *   v2, binary: 0D 0A 0D 0A 00 0D 0A 51 55 49 54 0A VC FF LL LL  SS… DD… ss ss dd dd  TLVs
 *
 *   VC  2, then 0 LOCAL (the proxy itself) or 1 PROXY    SS, DD  address of source, destination: 4 or 16 bytes
 *   FF  family 1 IPv4, 2 IPv6; transport 1 stream        ss, dd  their ports
 *   LL  bytes that follow, big-endian
 */
export interface ProxyHeader {
  /** Bytes of the header. */
  readonly length: number
  /** The client that connected to the proxy; absent if the proxy itself opened the connection. */
  readonly source?: { readonly address: string; readonly port: number }
}

/**
 * Returns the header at the beginning of `bytes`; `incomplete`: more bytes are needed; `invalid`: no further bytes can make
 * it valid.
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader | 'incomplete' | 'invalid' {
  if (startsLike(bytes, SIGNATURE)) return bytes.length < V2_FIXED ? 'incomplete' : readV2(bytes)
  return startsLike(bytes, PROXY) ? readV1(bytes) : 'invalid'
}

/** Whether bytes begin with a text, as far as both go. */
function startsLike(bytes: Buffer, text: Buffer): boolean {
  const length = Math.min(bytes.length, text.length)
  return bytes.compare(text, 0, length, 0, length) === 0
}

function readV1(bytes: Buffer): ProxyHeader | 'incomplete' | 'invalid' {
  const end = bytes.subarray(0, MAX_V1).indexOf('\r\n')
  if (end < 0) return bytes.length < MAX_V1 ? 'incomplete' : 'invalid'
  const length = end + 2
  const line = bytes.toString('latin1', 0, end)
  const [, family, ...fields] = line.split(' ')
  if (family === 'UNKNOWN') return { length }
  const [source, destination, ...ports] = fields
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : () => false
  // An address with a zone (fe80::1%eth0) is meaningless on another machine.
  if (line.includes('%') || !isAddress(source) || !isAddress(destination) || ports.length !== 2 || !ports.every(isPort))
    return 'invalid'
  return { length, source: { address: canonical(source), port: Number(ports[0]) } }
}

function readV2(bytes: Buffer): ProxyHeader | 'incomplete' | 'invalid' {
  const [command, family] = [bytes[12], bytes[13]]
  const addresses = bytes.readUInt16BE(14)
  const length = V2_FIXED + addresses
  if ((command !== LOCAL && command !== PROXIED) || length > MAX_V2) return 'invalid'
  if (bytes.length < length) return 'incomplete'
  const width = command === LOCAL ? undefined : ADDRESS_BYTES.get(family)
  if (width === undefined) return { length }
  if (addresses < 2 * width + 4) return 'invalid'
  const address = addressOf(bytes.subarray(V2_FIXED, V2_FIXED + width))
  return { length, source: { address, port: bytes.readUInt16BE(V2_FIXED + 2 * width) } }
}

function addressOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.')
  return canonical((bytes.toString('hex').match(/.{4}/g) as string[]).join(':'))
}

/** An IPv6 address in its one canonical spelling. */
function canonical(address: string): string {
  return isIPv4(address) ? address : new SocketAddress({ address, family: 'ipv6' }).address
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
}

const PROXY = Buffer.from('PROXY ')
const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
const V2_FIXED = 16
/** The longest line of version 1. */
const MAX_V1 = 107
/** A proxy may add its own certificates and names (TLVs), which are skipped. */
const MAX_V2 = 8192
const LOCAL = 0x20
const PROXIED = 0x21
/** By family and transport. Others (Unix sockets, unspecified) name no address. */
const ADDRESS_BYTES = new Map([
  [0x11, 4],
  [0x21, 16],
])
