import { isIPv4 } from 'node:net'

/** The address in the `remote` of a session, `address:port`. */
export function addressOf(remote: string): string {
  const colon = remote.lastIndexOf(':')
  return colon < 0 ? remote : remote.slice(0, colon)
}

/** `127.0.0.1:5027`, `[::1]:5027`. */
export function hostPort({ host, port }: { readonly host: string; readonly port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/**
 * Returns the network of an address, for limits: its /24, for IPv6 its /56. An IPv4 address written as IPv6
 * (`::ffff:192.0.2.1`) counts as IPv4. A text that is not an address is a network of its own.
 */
export function networkOf(address: string): string {
  const text = address.startsWith('::ffff:') ? address.slice(7) : address
  if (isIPv4(text)) return [...text.split('.', 3), '0/24'].join('.')
  if (!text.includes(':')) return text
  const groups = groupsOf(text)
  return `${groups.slice(0, 3).join(':')}:${(groups[3] ?? '0').padStart(4, '0').slice(0, 2)}00/56`
}

/** The name of an API, from the URL that is pushed to: `api.example`, `api.example/v2`. */
export function apiName(url: string): string {
  return url.replace(/^https?:\/\//, '')
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): string[] {
  const [[front, back]] = [address.split('%')[0].split('::')]
  const first = front === '' ? [] : front.split(':')
  const last = back === undefined || back === '' ? [] : back.split(':')
  const missing = back === undefined ? 0 : Math.max(0, 8 - first.length - last.length)
  return [...first, ...Array<string>(missing).fill('0'), ...last].map((group) => group.replace(/^0+(?=.)/, ''))
}
