import { keys } from './keys.ts'
import type { Store } from './shards.ts'

export interface GatewayChannel {
  /** Sends a text; it is lost if it cannot be sent now. */
  send(text: string): void
  close(): void
}

/**
 * Opens the pub/sub channel of the gateways around one Redis, which stores nothing. Calls `receive` with messages of other
 * gateways, `rosterWritten` after each write to the roster, and `opened` when it hears them for the first time.
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
