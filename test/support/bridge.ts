import { onTestFinished } from 'vitest'
import type { Bridge } from '../../src/config/bridge.ts'
import { configSchema } from '../../src/config/schema.ts'
import { type MqttBridge, openBridge } from '../../src/gateway/wire/mqtt-bridge.ts'
import { observations } from '../../src/observe/observations.ts'
import { english } from '../../src/texts/text.ts'
import { count, type Gateway, until } from './listen.ts'
import { protocolNamed } from './mqtt.ts'

/** A bridge as gateway.yaml says, to a broker of this machine. */
export function bridgeTo(port: number, more: Record<string, unknown> = {}): Bridge {
  const bridge = { url: `mqtt://127.0.0.1:${port}`, topics: { 'fleet/+/pos': 'fix' }, ...more }
  return configSchema(null).parse({ mqtt: { bridges: [bridge] } }).mqtt.bridges[0]
}

/** Opens a bridge for a gateway, until the test is over. `slot`: which gateway of the installation it is. */
export async function opened(bridge: Bridge, shared: Gateway, slot = 0): Promise<MqttBridge> {
  const made = await openBridge(bridge, { ...shared, protocolNamed, gateway: { installation: 'test', slot } })
  onTestFinished(() => made.close(0))
  return made
}

/** Opens a bridge, and waits until it is subscribed. */
export async function subscribed(bridge: Bridge, shared: Gateway, slot = 0): Promise<MqttBridge> {
  const made = await opened(bridge, shared, slot)
  await until(async () => {
    if ((await count('bridge_connected', { bridge: bridge.name })) !== 1) throw new Error('not subscribed')
  })
  return made
}

/** Why a bridge is not connected, as the finding says. */
export function troublesOf({ name }: Bridge): readonly string[] {
  const listener = `bridge ${name}`
  const found = observations
    .current()
    .find(({ code, subject }) => code === 'bridge_down' && subject.listener === listener)
  return (found?.evidence ?? []).map(english)
}
