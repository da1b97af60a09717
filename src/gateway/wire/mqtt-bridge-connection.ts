import { once } from 'node:events'
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import mqttPacket, { type IConnackPacket, type IPublishPacket, type ISubackPacket, type Packet } from 'mqtt-packet'
import { within } from '../../async.ts'
import type { Bridge } from '../../config/bridge.ts'
import { readClientTls } from '../../config/certificate.ts'
import { say, type Text } from '../../texts/text.ts'
import { causeOf, reasonText } from './mqtt-bridge-causes.ts'
import { PacketFollower } from './mqtt-packets.ts'

/** Callbacks from a broker connection to its bridge. */
export interface BridgeEvents {
  /** The broker has answered the subscriptions. `refused`: a sentence for each refused one. */
  subscribed(refused: readonly Text[], hasSession: boolean): void
  /** Takes a message. Resolves to whether it may be acknowledged. Never rejects. */
  published(topic: string, payload: Buffer): Promise<boolean>
  /** Whether nothing may be read now. */
  isHigh(): boolean
  /**
   * Called once, when the connection has ended. `cause`: a sentence; undefined if it was ended so that messages come
   * again.
   */
  ended(cause?: Text): void
}

/**
 * One connection to a broker: logs in, subscribes with QoS 1, and acknowledges each message once it is stored, in order. If a
 * message cannot be acknowledged, the connection ends, because the broker then sends it again on the next connection.
 */
export class BridgeConnection {
  readonly #bridge: Bridge
  readonly #events: BridgeEvents
  readonly #clientId: string
  readonly #socket: Socket
  readonly #closed: Promise<unknown>
  readonly #parser
  readonly #packets = new PacketFollower()
  readonly #protocolVersion: 4 | 5
  #heardAt = performance.now()
  /** The packet that the broker has to send before any other answer. */
  #awaited: 'connack' | 'suback' | undefined = 'connack'
  /** Bytes that are read but not parsed yet; while there are any, nothing more is read. */
  #unparsed: Buffer = EMPTY
  #hasTurn = false
  #inFlight = 0
  #acknowledged: Promise<unknown> = Promise.resolve()
  #hasSession = false
  #isOver = false
  #isClosing = false
  #timer: NodeJS.Timeout
  #renewal: NodeJS.Timeout | undefined

  /** @throws Error if the files for TLS cannot be used */
  constructor(bridge: Bridge, clientId: string, events: BridgeEvents) {
    this.#bridge = bridge
    this.#clientId = clientId
    this.#events = events
    this.#protocolVersion = bridge.version === '5' ? 5 : 4
    this.#parser = mqttPacket.parser({ protocolVersion: this.#protocolVersion })
    this.#parser.on('packet', (packet) => this.#handle(packet))
    this.#parser.on('error', () => this.#end(say('the broker sends what is not MQTT')))
    this.#socket = dial(bridge)
    this.#socket.setNoDelay(true)
    this.#socket.on(bridge.isSecure ? 'secureConnect' : 'connect', () => this.#login())
    this.#socket.on('data', (bytes) => this.#receive(bytes))
    this.#socket.on('drain', () => this.adjustReading())
    this.#socket.on('error', (error) => this.#end(causeOf(error)))
    this.#closed = once(this.#socket, 'close').catch(() => {})
    this.#socket.on('close', () => this.#end(say('the broker ended the connection')))
    this.#timer = setTimeout(() => this.#end(say('the broker does not answer')), LOGIN_MS)
  }

  /** Pauses or resumes reading, depending on the data that wait to be stored, and to be read by the broker. */
  adjustReading(): void {
    if (this.#isOver) return
    if (this.#isFull() || this.#unparsed.length > 0) this.#socket.pause()
    if (this.#isFull()) return
    if (this.#unparsed.length > 0) this.#parseLater()
    else if (this.#socket.isPaused()) {
      this.#heardAt = performance.now()
      this.#socket.resume()
    }
  }

  /** Takes nothing more, acknowledges messages that are being stored, and disconnects; the broker keeps the session. */
  async close(waitMs: number): Promise<void> {
    this.#isClosing = true
    this.adjustReading()
    await within(waitMs, this.#acknowledged)
    this.#send({ cmd: 'disconnect' })
    this.#end()
    await this.#closed
  }

  #login(): void {
    const { username, password } = this.#bridge
    const properties = {
      sessionExpiryInterval: SESSION_S,
      receiveMaximum: MAX_IN_FLIGHT,
      maximumPacketSize: MAX_PACKET_BYTES,
    }
    this.#send({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: this.#protocolVersion,
      clientId: this.#clientId,
      clean: false,
      keepalive: KEEPALIVE_S,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password: Buffer.from(password) }),
      ...(this.#protocolVersion === 5 && { properties }),
    })
  }

  #receive(bytes: Buffer): void {
    if (this.#isOver) return
    this.#heardAt = performance.now()
    if (this.#packets.follow(bytes, () => MAX_PACKET_BYTES))
      return this.#end(say('the broker sends a message above 1 MB'))
    this.#unparsed = bytes
    this.#parse()
  }

  #parseLater(): void {
    if (this.#hasTurn) return
    this.#hasTurn = true
    setImmediate(() => this.#parse())
  }

  /** Parses for a few milliseconds, then continues in a later turn, so that devices are served in between. */
  #parse(): void {
    this.#hasTurn = false
    const until = performance.now() + TURN_MS
    const isDue = () => this.#unparsed.length > 0 && !this.#isOver && !this.#isFull() && performance.now() < until
    while (isDue()) {
      this.#parser.parse(this.#unparsed.subarray(0, SLICE_BYTES))
      this.#unparsed = this.#unparsed.subarray(SLICE_BYTES)
    }
    this.adjustReading()
  }

  #isFull(): boolean {
    const isBusy = this.#inFlight >= MAX_IN_FLIGHT || this.#socket.writableNeedDrain
    return this.#isClosing || isBusy || this.#events.isHigh()
  }

  #handle(packet: Packet): void {
    if (this.#isOver) return
    if (packet.cmd === 'connack' || packet.cmd === 'suback') this.#answered(packet)
    else if (packet.cmd === 'publish') this.#take(packet)
    else if (packet.cmd === 'disconnect')
      this.#end(
        say('the broker ended the session: {}', reasonText(packet.reasonCode ?? 0, packet.properties?.reasonString)),
      )
  }

  #answered(packet: IConnackPacket | ISubackPacket): void {
    if (packet.cmd !== this.#awaited) this.#end(say('the broker sends {} unasked', packet.cmd.toUpperCase()))
    else if (packet.cmd === 'connack') this.#loggedIn(packet)
    else this.#subscribed(packet)
  }

  #loggedIn({ properties, reasonCode, returnCode, sessionPresent }: IConnackPacket): void {
    const code = reasonCode ?? returnCode ?? 0
    if (code !== 0)
      return this.#end(say('the broker refuses the login: {}', reasonText(code, properties?.reasonString)))
    this.#hasSession = sessionPresent
    const pingMs = ((properties?.serverKeepAlive || KEEPALIVE_S) * 1000) / 2
    clearTimeout(this.#timer)
    this.#timer = setInterval(() => this.#ping(pingMs), pingMs)
    this.#awaited = 'suback'
    const subscriptions = this.#filters().map((topic) => ({ topic, qos: 1 as const }))
    this.#send({ cmd: 'subscribe', messageId: 1, subscriptions })
  }

  #filters(): string[] {
    const { shared_group: group, topics } = this.#bridge
    return topics.map(({ filter }) => (group === undefined ? filter : `$share/${group}/${filter}`))
  }

  #subscribed({ granted }: ISubackPacket): void {
    this.#awaited = undefined
    const codes = granted as readonly number[]
    const refused = this.#filters().flatMap((filter, index) => {
      if (codes[index] >= 128)
        return [say('the broker refuses the subscription {}: {}', filter, reasonText(codes[index]))]
      return codes[index] === 0 ? [say('the broker grants {} QoS 0 only: messages may be lost', filter)] : []
    })
    this.#events.subscribed(refused, this.#hasSession)
  }

  #take(packet: IPublishPacket): void {
    this.#inFlight++
    const taken = this.#events.published(packet.topic, packet.payload as Buffer)
    this.#acknowledged = this.#acknowledge(packet, taken, this.#acknowledged)
  }

  async #acknowledge({ messageId, qos }: IPublishPacket, taken: Promise<boolean>, earlier: Promise<unknown>) {
    const [isTaken] = await Promise.all([taken, earlier])
    this.#inFlight--
    if (this.#isOver) return
    if (isTaken && qos > 0) this.#send({ cmd: 'puback', messageId })
    // The broker sends a message again only on a new connection.
    if (!isTaken) this.#renewal ??= setTimeout(() => this.#end(), RENEWAL_MS)
    this.adjustReading()
  }

  #ping(everyMs: number): void {
    const silentMs = performance.now() - this.#heardAt
    const isWaiting = !this.#socket.isPaused() || this.#socket.writableNeedDrain
    if (isWaiting && silentMs > 2.5 * everyMs) this.#end(say('the broker does not answer any more'))
    else this.#send({ cmd: 'pingreq' })
  }

  #send(packet: Packet): void {
    if (!this.#isOver && this.#socket.writable)
      this.#socket.write(mqttPacket.generate(packet, { protocolVersion: this.#protocolVersion }))
  }

  #end(cause?: Text): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    clearTimeout(this.#renewal)
    if (cause === undefined && !this.#socket.connecting) this.#leave()
    else this.#socket.destroy()
    this.#events.ended(cause)
  }

  /**
   * Waits until the broker closes its side, which it does once it has read every acknowledgement: it then repeats no message
   * on the next connection.
   */
  #leave(): void {
    this.#socket.end()
    this.#socket.resume()
    setTimeout(() => this.#socket.destroy(), LEAVE_MS).unref()
  }
}

/** Opens the connection. Certificates are read each time, so that renewed ones are used. */
function dial({ host, isSecure, port, tls }: Bridge): Socket {
  if (!isSecure) return connectPlain({ host, port, keepAlive: true })
  const context = tls ? readClientTls(tls) : { minVersion: 'TLSv1.2' as const }
  if ('message' in context) throw new Error(`tls.${context.key}: ${context.message}`)
  const ALPNProtocols = tls?.alpn === undefined ? undefined : [tls.alpn]
  const servername = isIP(host) === 0 ? host : undefined
  return connectTls({ ...context, host, port, servername, ALPNProtocols, minVersion: 'TLSv1.2' })
}

const EMPTY = Buffer.alloc(0)
/** The shortest packet has 2 bytes: a slice has at most 512 packets. */
const SLICE_BYTES = 1024
const TURN_MS = 5
const LOGIN_MS = 15_000
const KEEPALIVE_S = 60
/** How long a broker keeps the session while no gateway is connected. With MQTT 3.1.1 the broker decides. */
const SESSION_S = 7 * 86_400
/** While this many messages are being stored, nothing more is read from the broker. */
const MAX_IN_FLIGHT = 1000
const MAX_PACKET_BYTES = 1 << 20
const RENEWAL_MS = 3000
const LEAVE_MS = 1000
