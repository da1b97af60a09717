import * as dgram from 'node:dgram'
import { isIPv6 } from 'node:net'

/** A socket that is bound, and neither listened on nor read. */
export interface BoundSocket {
  readonly fd: number
  close(): void
}

/**
 * Binds a socket for datagrams; undefined if its address cannot be bound. Node has no public way to do that without reading
 * the socket, and this one is deprecated. If it is gone, the datagrams of a restart are lost, and the devices send them
 * again.
 */
export function boundForDatagrams({ host, port }: { host: string; port: number }): BoundSocket | undefined {
  const { _createSocketHandle: create } = dgram as unknown as {
    readonly _createSocketHandle?: (host: string, port: number, type: 'udp4' | 'udp6') => BoundSocket | number
  }
  const { noDeprecation } = process
  process.noDeprecation = true
  const bound = create?.(host, port, isIPv6(host) ? 'udp6' : 'udp4')
  process.noDeprecation = noDeprecation
  return typeof bound === 'object' ? bound : undefined
}
