import mqtt, { type IClientOptions, type MqttClient } from 'mqtt'
import { onTestFinished } from 'vitest'
import fix from '../../protocols/fix/index.ts'
import h02 from '../../protocols/h02/index.ts'
import owntracks from '../../protocols/owntracks/index.ts'
import teltonika from '../../protocols/teltonika/index.ts'
import { listenMqtt } from '../../src/gateway/wire/mqtt.ts'
import { type Gateway, open, talk } from './listen.ts'

export const AT = { host: '127.0.0.1', port: 0 }
const PROTOCOLS = new Map([fix, h02, owntracks, talk, teltonika].map((protocol) => [protocol.name, protocol]))

/** The protocols of these tests, as the broker asks for them. */
export const protocolNamed = async (name: string) => PROTOCOLS.get(name)
export const TOPIC = 'devices/van-1/fix'

/** An MQTT listener of this gateway. */
export function listen(shared: Gateway) {
  return open(listenMqtt(AT, { ...shared, protocolNamed }))
}

/** A client that is connected, or being connected where it cannot be. */
export async function client(port: number, options: IClientOptions & { connects?: boolean } = {}): Promise<MqttClient> {
  const { connects = true, ...rest } = { username: 'van-1', reconnectPeriod: 0, ...options }
  const made = mqtt.connect(`mqtt://127.0.0.1:${port}`, rest)
  onTestFinished(() => void made.end(true))
  made.on('error', () => {})
  if (connects) await new Promise((resolve) => made.once('connect', resolve))
  return made
}

/** The return code that a login is refused with. */
export async function refusalOf(port: number, options: IClientOptions): Promise<unknown> {
  const refused = await client(port, { ...options, connects: false })
  return new Promise((resolve) => refused.once('error', (error) => resolve('code' in error ? error.code : error)))
}

/** The JSON of a fix that happens now. */
export function position(more: Record<string, unknown> = {}): string {
  return JSON.stringify({ lat: 50.1, lon: 8.7, timestamp: Math.floor(Date.now() / 1000), ...more })
}
