import { BlockList, isIP } from 'node:net'

/** Returns a network in CIDR notation, or a single address; undefined if a text is neither. */
export function cidr(text: string): string | undefined {
  const [address, bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return undefined
  if (bits === undefined) return text
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128) ? text : undefined
}

/** Networks that an address may be in. The same list of texts is made once: a fleet has one list for many devices. */
export function networksOf(cidrs: readonly string[]): BlockList {
  const key = cidrs.join()
  const known = lists.get(key)
  if (known) return known
  const list = new BlockList()
  for (const text of cidrs) {
    const [address, bits] = text.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    list.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family)
  }
  if (lists.size >= MAX_LISTS) lists.clear()
  lists.set(key, list)
  return list
}

/** Whether an address is in one of the networks; an IPv4 address as IPv6 (`::ffff:192.0.2.1`) counts as IPv4. */
export function isWithin(networks: BlockList, address: string): boolean {
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address
  const family = isIP(plain)
  return family !== 0 && networks.check(plain, family === 4 ? 'ipv4' : 'ipv6')
}

/** Whether only this machine reaches an address, or the host `localhost`. */
export function isLoopback(host: string): boolean {
  return isIP(host) === 0 ? host === 'localhost' : isWithin(networksOf(['127.0.0.0/8', '::1']), host)
}

const lists = new Map<string, BlockList>()
const MAX_LISTS = 10_000
