import { keys } from './keys.ts'
import type { Store } from './shards.ts'

export interface GatewayChannel {
  /** What cannot be sent now is lost. */
  send(text: string): void
  close(): void
}

/**
 * What gateways around one Redis are told by its pub/sub, which nothing keeps. `receive` is called with what other
 * gateways say; `rosterWritten` after each write to the roster; `opened` once they are heard for the first time.
 */
export function openGatewayChannel(
  { redis, gateway }: { readonly redis: Store; readonly gateway: string },
  {
    receive,
    rosterWritten,
    opened,
  }: { receive(gateway: string, text: string): void; rosterWritten(): void; opened(): void },
): GatewayChannel {
  const hearing = redis.duplicate({ connectionName: 'waybridge-gateway-channel' })
  hearing.on('error', () => {})
  hearing.once('subscribed', opened)
  hearing.on('ready', () => {
    hearing.subscribe(keys.gatewayChannel, keys.roster('written')).then(
      () => hearing.emit('subscribed'),
      () => {},
    )
  })
  hearing.on('message', (channel, message: string) => {
    if (channel !== keys.gatewayChannel) return rosterWritten()
    const from = message.slice(0, message.indexOf('\n'))
    if (from !== gateway) receive(from, message.slice(from.length + 1))
  })
  return {
    send: (text) => void redis.publish(keys.gatewayChannel, `${gateway}\n${text}`).catch(() => {}),
    close: () => hearing.disconnect(),
  }
}
