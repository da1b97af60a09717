import { randomUUID } from 'node:crypto'
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import mqttPacket, { type Packet } from 'mqtt-packet'
import { copyTls } from '../config/certificate.ts'
import type { Copy } from '../config/copies.ts'
import type { CopiedFix } from '../store/index.ts'
import { say, type Text } from '../texts/text.ts'
import { fixJson } from './fix-json.ts'
import type { HttpReceiverOptions } from './http.ts'
import type { Receiver } from './receiver.ts'

/** Publishes each fix with QoS 1 under its topic, over one connection (MQTT 3.1.1). */
export function mqttReceiver({ copy, names, timeoutMs }: Omit<HttpReceiverOptions, 'connections' | 'most'>): Receiver {
  let connection: BrokerConnection | undefined
  const pattern = copy.topic ?? 'fleet/{company_id}/{device}'
  return {
    most: IN_FLIGHT,
    // A connection keeps the order.
    queueOf: () => '',
    async send(company, fixes) {
      try {
        if (!connection || connection.ended !== undefined) connection = new BrokerConnection(copy)
      } catch (error) {
        return { to: 'retry', reason: (error as Error).message, mayBeFixes: false }
      }
      const messages = fixes.map((fix) => ({
        topic: topicOf(pattern, company, fix),
        payload: JSON.stringify(fixJson(company, fix, names.nameOf(company, fix.device))),
      }))
      const reason = await connection.publish(messages, timeoutMs)
      return reason === undefined ? { to: 'delivered' } : { to: 'retry', reason, mayBeFixes: connection.isOpen }
    },
    keepAlive: () => connection?.keepAlive(),
    close: () => connection?.close(),
  }
}

function topicOf(pattern: string, company: string, { device, courier = '-', route = '-' }: CopiedFix): string {
  const values: Readonly<Record<string, string>> = { company_id: company, device, courier_id: courier, route_id: route }
  return pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name].replaceAll(NO_LEVEL, '_'))
}

/** A connection to a broker. When it ends, a new one is opened. */
class BrokerConnection {
  /** Why it has ended. Only this class sets both. */
  ended: Text | undefined
  /** Whether the broker has accepted the login. */
  isOpen = false
  readonly #socket: Socket
  readonly #login = Promise.withResolvers<void>()
  readonly #parser = mqttPacket.parser({ protocolVersion: VERSION })
  /** Callbacks of packets without a PUBACK, by packet id. */
  readonly #unacknowledged = new Map<number, () => void>()
  #end = Promise.withResolvers<void>()
  #number = 0
  /** By `performance.now()`. */
  #pingAt = 0

  /** @throws Error if the files for TLS cannot be used */
  constructor(copy: Copy) {
    this.#parser.on('packet', (packet) => this.#handle(packet))
    this.#parser.on('error', () => this.#over(say('the broker sends what is not MQTT')))
    const { hostname, port, protocol, username, password } = new URL(copy.to)
    const isSecure = protocol === 'mqtts:'
    const host = hostname.replace(/^\[|\]$/g, '')
    const at = { host, port: Number(port) || (isSecure ? 8883 : 1883) }
    const servername = isIP(host) === 0 ? host : undefined
    this.#socket = isSecure
      ? connectTls({ minVersion: 'TLSv1.2', ...copyTls(copy), ...at, servername })
      : connectPlain({ ...at, keepAlive: true })
    this.#socket.setNoDelay(true)
    this.#socket.on(isSecure ? 'secureConnect' : 'connect', () =>
      this.#send({
        cmd: 'connect',
        protocolId: 'MQTT',
        protocolVersion: VERSION,
        clientId: `waybridge-${copy.name}-${randomUUID().slice(0, 8)}`,
        clean: true,
        keepalive: KEEPALIVE_S,
        ...(username !== '' && { username: decodeURIComponent(username) }),
        ...(password !== '' && { password: Buffer.from(decodeURIComponent(password)) }),
      }),
    )
    this.#socket.on('data', (bytes) => this.#parser.parse(bytes))
    this.#socket.on('error', (error: NodeJS.ErrnoException) =>
      this.#over(say('the connection failed ({})', error.code ?? error.name)),
    )
    this.#socket.on('close', () => this.#over(say('the broker ended the connection')))
  }

  /** Resolves once all were acknowledged, or to why not: then the connection has ended. */
  async publish(messages: readonly { topic: string; payload: string }[], timeoutMs: number): Promise<Text | undefined> {
    const deadline = setTimeout(
      () => this.#over(say('it does not answer within {} s', Math.ceil(timeoutMs / 1000))),
      timeoutMs,
    )
    await Promise.race([this.#login.promise, this.#end.promise])
    if (this.ended === undefined)
      await Promise.race([Promise.all(messages.map((message) => this.#publish(message))), this.#end.promise])
    clearTimeout(deadline)
    return this.ended
  }

  keepAlive(): void {
    if (!this.isOpen || performance.now() < this.#pingAt) return
    this.#pingAt = performance.now() + PING_MS
    this.#send({ cmd: 'pingreq' })
  }

  close(): void {
    this.#send({ cmd: 'disconnect' })
    this.#over(say('the broker ended the connection'))
  }

  #publish({ topic, payload }: { topic: string; payload: string }): Promise<void> {
    this.#number = (this.#number % 0xffff) + 1
    const messageId = this.#number
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#unacknowledged.set(messageId, resolve)
    this.#send({ cmd: 'publish', topic, payload, qos: 1, messageId, dup: false, retain: false })
    return promise
  }

  #handle(packet: Packet): void {
    if (packet.cmd === 'puback' && packet.messageId !== undefined) {
      this.#unacknowledged.get(packet.messageId)?.()
      this.#unacknowledged.delete(packet.messageId)
    }
    if (packet.cmd !== 'connack') return
    if (packet.returnCode !== 0) return this.#over(say('the broker refuses the login ({})', packet.returnCode ?? 0))
    this.isOpen = true
    this.#pingAt = performance.now() + PING_MS
    this.#login.resolve()
  }

  #send(packet: Packet): void {
    if (this.ended === undefined && this.#socket.writable) this.#socket.write(mqttPacket.generate(packet))
  }

  #over(reason: Text): void {
    if (this.ended !== undefined) return
    this.ended = reason
    this.#socket.end()
    setTimeout(() => this.#socket.destroy(), LEAVE_MS).unref()
    this.#end.resolve()
  }
}

/** Characters that may not be in a level of a topic. */
const NO_LEVEL = /[/+#\0]/g
const VERSION = 4
const KEEPALIVE_S = 60
const PING_MS = 30_000
/** Messages without an acknowledgement at once. */
const IN_FLIGHT = 100
const LEAVE_MS = 500
