import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Aedes, Client } from 'aedes'
import type { Protocol } from '../../../protocols/kit/index.ts'
import { sameId } from '../../domain/ids.ts'
import { guarded, logFault } from '../../observe/faults.ts'
import { metrics } from '../../observe/metrics.ts'
import type { Replica } from '../../roster/replica.ts'
import { answeredIn, restOf } from '../outcome.ts'
import type { Ingest } from '../take.ts'
import type { Shared } from './listener.ts'
import type { MqttConnection } from './mqtt-connection.ts'

/** What the built-in broker needs beside the parts that all listeners share. */
export interface MqttShared extends Shared {
  /** Returns the protocol with this name, the last word of a topic; undefined if there is none. */
  readonly protocolNamed: (name: string) => Promise<Protocol | undefined>
  readonly ingest: Pick<Ingest, 'take' | 'login' | 'waitForRoster'>
  readonly replica: Pick<Replica, 'roster'>
}

type PreConnect = Parameters<Aedes['preConnect']>
type Authenticate = Parameters<Aedes['authenticate']>
type AuthorizePublish = Parameters<Aedes['authorizePublish']>

/**
 * Handlers that the broker calls for each CONNECT and each PUBLISH. The user name and password of a CONNECT are the id and
 * secret of the device.
 */
export class MqttHandlers {
  readonly #shared: MqttShared
  readonly #storing = new Set<Promise<void>>()

  constructor(shared: MqttShared) {
    this.#shared = shared
  }

  preConnect(...connect: PreConnect): void {
    this.#guarded(connect[0], () => this.#preConnect(...connect))
  }

  authenticate(...login: Authenticate): void {
    this.#guarded(login[0], () => this.#authenticate(...login))
  }

  /** A fault of waybridge ends the connection of the client whose packet caused it, without an answer. */
  #guarded(client: Client, work: () => unknown): void {
    const connection = connectionOf(client)
    guarded(work, (error) => {
      logFault(this.#shared.logger, error, faultPlace(connection))
      connection.destroy()
    })
  }

  async #preConnect(...[client, packet, done]: PreConnect): Promise<void> {
    const { ingest, limits } = this.#shared
    const connection = connectionOf(client)
    connection.beginLogin()
    connection.beginStoring()
    const isCurrent = await ingest.waitForRoster('mqtt')
    connection.endStoring()
    if (!isCurrent) {
      metrics.refused.inc({ reason: 'not_ready' })
      // The connection ends without a CONNACK: some clients never connect again after a refusal.
      connection.destroy()
      return
    }
    const { keepalive = 0 } = packet
    if (keepalive > 0) connection.idleMs = Math.min(keepalive * 1500, limits.idle_timeout)
    // The listener watches for silence: while it does not read, silence is not the device's fault.
    packet.keepalive = 0
    // By default the broker ends a connection when another one claims its client id, so knowing that id would be enough to
    // cut a van off. Nothing is kept for a client id, and if a device reconnects, the limits of connections end the older
    // one.
    packet.clientId = randomUUID()
    // A will has no subscribers.
    delete packet.will
    done(null, true)
  }

  /** One refusal for all causes, after the same time: it does not tell which ids are configured. */
  async #authenticate(...[client, username = '', password, done]: Authenticate): Promise<void> {
    const { session } = connectionOf(client)
    const arrivedAt = performance.now()
    const refusal = this.#shared.ingest.login(username, password?.toString() || undefined, session)
    if (refusal !== undefined || !session.isProved) await sleep(restOf(arrivedAt))
    if (refusal === undefined) done(null, true)
    else done(Object.assign(new Error(refusal), { returnCode: NOT_AUTHORISED }), false)
  }

  /**
   * PUBLISH: stores the message, since aedes answers (PUBACK, PUBREC) after `authorizePublish`. Given an error, aedes closes
   * the connection without an answer.
   */
  authorize(...[client, packet, done]: AuthorizePublish): void {
    // A publication without a client would be a will, and wills are not kept.
    if (!client) return done(new Error('no client'))
    const work = this.#answer(connectionOf(client), packet, done)
    this.#storing.add(work)
    this.#guarded(client, () => work.finally(() => this.#storing.delete(work)))
  }

  /** Resolves once the messages that are being stored now are stored, or have failed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#storing)
  }

  async #answer(connection: MqttConnection, packet: AuthorizePublish[1], done: AuthorizePublish[2]): Promise<void> {
    connection.beginStoring()
    const refusal = await this.#take(connection, packet).catch((error: unknown) => {
      this.#shared.journal.fault(error, faultPlace(connection))
      return 'fault'
    })
    // `reason` marks it as counted.
    if (refusal === undefined) done()
    else done(Object.assign(new Error(refusal), { reason: refusal }))
    connection.endStoring()
  }

  /** Stores one message. Resolves to why it must not be acknowledged, if so. */
  async #take({ session }: MqttConnection, packet: AuthorizePublish[1]): Promise<string | undefined> {
    const { ingest, journal, pressure, protocolNamed } = this.#shared
    const topic = readTopic(packet.topic)
    const protocol = topic && (await protocolNamed(topic.protocol))
    if (!topic || !protocol || !this.#isSameDevice(topic.device, session.device ?? '')) {
      const reason = topic && protocol ? 'other_device' : 'unknown_topic'
      journal.refusedTopic(reason, session)
      return reason
    }

    const arrivedAt = performance.now()
    const payload = Buffer.from(packet.payload)
    pressure.add(payload.length)
    const outcome = await ingest.take(payload, session, protocol).finally(() => pressure.add(-payload.length, -1))
    pressure.unfinished.look(session)
    const waitMs = answeredIn([outcome], arrivedAt)
    if (waitMs > 0) await sleep(waitMs)
    return outcome.status === 'stored' ? undefined : outcome.status
  }

  /** Returns whether two spellings of an id name the same device. */
  #isSameDevice(one: string, other: string): boolean {
    const { roster } = this.#shared.replica
    return (roster.find(one) ?? sameId(one)) === (roster.find(other) ?? sameId(other))
  }
}

/** The broker has the connection as the stream of its client. */
export function connectionOf({ conn }: Client): MqttConnection {
  return conn as MqttConnection
}

function faultPlace({ session: { device } }: MqttConnection) {
  return { what: 'fault in handling an MQTT packet', device }
}

/** The return code of CONNACK. */
const NOT_AUTHORISED = 5

/**
 * The device and the protocol of `devices/<device>/<protocol>`, `owntracks/<device>/<anything>` or `<device>/data`, of Teltonika;
 * undefined for other topics.
 */
function readTopic(topic: string): { readonly device: string; readonly protocol: string } | undefined {
  const [root, device, name, ...more] = topic.split('/')
  if (name === undefined) return device === 'data' ? { device: root, protocol: 'teltonika' } : undefined
  if (root === 'owntracks') return { device, protocol: 'owntracks' }
  return root === 'devices' && more.length === 0 ? { device, protocol: name } : undefined
}
