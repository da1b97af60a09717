import type { IncomingHttpHeaders } from 'node:http'
import { type BlockList, isIP } from 'node:net'
import { isWithin } from '../../domain/networks.ts'

/**
 * Returns the sender of a request: the peer; if the peer is a trusted proxy, the rightmost address of `Forwarded` or
 * `X-Forwarded-For` that is not a trusted proxy. If both headers are present and differ, the client wrote one of them: the
 * sender is then `unknown`, which is in no network, whereas the proxy's own address might be in a network that a device may
 * come from.
 */
export function senderOf(peer: string, headers: IncomingHttpHeaders, trusted: BlockList): string {
  if (!isWithin(trusted, peer)) return peer
  const chains = [forwardedFor(headers.forwarded), listed(headers['x-forwarded-for'])].filter(
    (chain) => chain.length > 0,
  )
  const [one = peer, other = one] = chains.map((chain) => rightmost(chain, peer, trusted))
  return one === other ? one : 'unknown'
}

/** Returns the nearest address that is not a trusted proxy; if an entry is no address, the address that named it. */
function rightmost(chain: readonly string[], peer: string, trusted: BlockList): string {
  let sender = peer
  for (const text of chain.toReversed()) {
    const address = addressIn(text)
    if (address === undefined) return sender
    sender = address
    if (!isWithin(trusted, address)) return sender
  }
  return sender
}

/** `for=192.0.2.60;proto=http, for="[2001:db8::17]:4711"` (RFC 7239): an element without `for` hides an address. */
function forwardedFor(header: string | undefined): string[] {
  return listed(header).map((element) => /(?:^|;)\s*for\s*=\s*("?)([^";]*)\1/i.exec(element)?.[2] ?? '')
}

function listed(header: string | readonly string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '')
  return text === '' ? [] : String(text).split(',')
}

/** An address without port and brackets. */
function addressIn(text: string): string | undefined {
  const plain = text.trim()
  const [, bracketed, four] = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/.exec(plain) ?? []
  const address = bracketed ?? four ?? plain
  // A zone could be a text of any length.
  return isIP(address) === 0 || address.includes('%') ? undefined : address
}
