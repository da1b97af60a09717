import { createHash, randomUUID } from 'node:crypto'
import type { Aedes, Client } from 'aedes'
import type { Protocol } from '../../protocols/kit/index.ts'
import { sameId } from '../config/units.ts'
import { isSecretOf } from '../ingest/device.ts'
import type { FrameOutcome } from '../ingest/ingest.ts'
import { metrics } from '../observe/metrics.ts'
import type { MqttConnection, MqttShared, Unreleased } from './mqtt-connection.ts'

type PreConnect = Parameters<Aedes['preConnect']>
type Authenticate = Parameters<Aedes['authenticate']>
type AuthorizePublish = Parameters<Aedes['authorizePublish']>

/** What the broker asks about each CONNECT, whose user name and password are the device's id and secret, and each PUBLISH. */
export class MqttHandlers {
  readonly #shared: MqttShared
  readonly #connectionOf: (client: Client) => MqttConnection
  /** The session that each configured device last asked to keep: one, whatever client ids it uses. */
  readonly #kept = new Map<string, { readonly clientId: string; readonly unreleased: Unreleased }>()
  readonly #storing = new Set<Promise<void>>()

  constructor(shared: MqttShared, connectionOf: (client: Client) => MqttConnection) {
    this.#shared = shared
    this.#connectionOf = connectionOf
  }

  async preConnect(...[client, packet, done]: PreConnect): Promise<void> {
    const { ingest, limits, replica } = this.#shared
    const connection = this.#connectionOf(client)
    connection.storing++
    const isCurrent = await ingest.waitForRoster('mqtt')
    connection.storing--
    if (!isCurrent) {
      metrics.refused.inc({ reason: 'not_ready' })
      // Without an answer: some clients never come back after a refusal.
      connection.stream.destroy()
      return
    }
    const { clientId, keepalive = 0, username = '' } = packet
    if (keepalive > 0) connection.idleMs = Math.min(keepalive * 1500, limits.idle_timeout)
    // The listener watches for silence: while it does not read, silence is not the device's fault.
    packet.keepalive = 0
    // A client id counts within its device, so that no device can end the connection of another one.
    const device = replica.roster.find(username)?.id ?? sameId(username)
    packet.clientId = JSON.stringify([device, clientId === '' ? randomUUID() : clientId])
    // A will has no subscribers.
    delete packet.will
    done(null, true)
  }

  authenticate(
    client: Authenticate[0],
    { username = '', password }: { username?: Authenticate[1]; password?: Authenticate[2] },
    done: Authenticate[3],
  ): void {
    const { admitsUnknown, heard, replica } = this.#shared
    const { session } = this.#connectionOf(client)
    const entry = replica.roster.find(username)
    if (!entry && admitsUnknown && username !== '') {
      session.device = sameId(username)
      return done(null, true)
    }
    if (!entry) return done(loginRefusal('unknown_device', 5), false)
    const secret = password?.toString()
    if (!isSecretOf(entry, secret)) {
      heard.became(entry.id, 'refused', 'wrong_secret')
      return done(loginRefusal('wrong_secret', 4), false)
    }
    session.device = entry.id
    session.secret = secret
    session.settings = entry.protocolSettings
    session.now = Date.now()
    this.#connectionOf(client).unreleased = this.#unreleasedOf(entry.id, client)
    heard.spoke(entry.id, session)
    done(null, true)
  }

  #unreleasedOf(device: string, { id, clean }: Client): Unreleased {
    const kept = this.#kept.get(device)
    if (!clean && kept?.clientId === id) return kept.unreleased
    const unreleased: Unreleased = new Map()
    if (!clean) this.#kept.set(device, { clientId: id, unreleased })
    else if (kept?.clientId === id) this.#kept.delete(device)
    return unreleased
  }

  /**
   * PUBLISH: stores the message, since aedes answers (PUBACK, PUBREC) after `authorizePublish`. Given an error, aedes closes
   * the connection without an answer.
   */
  authorize(...[client, packet, done]: AuthorizePublish): void {
    // A publication without a client would be a will: none is kept.
    if (!client) return done(new Error('no client'))
    const work = this.#answer(this.#connectionOf(client), packet, done).finally(() => this.#storing.delete(work))
    this.#storing.add(work)
  }

  /** Resolves once what is being stored now is stored, or is not. */
  async settled(): Promise<void> {
    await Promise.all(this.#storing)
  }

  async #answer(connection: MqttConnection, packet: AuthorizePublish[1], done: AuthorizePublish[2]): Promise<void> {
    connection.storing++
    const refusal = await this.#take(connection, packet).catch((error: unknown) => {
      this.#shared.logger.error({ err: error, device: connection.session.device }, 'fault in handling an MQTT message')
      return 'fault'
    })
    connection.storing--
    // `reason` says that it has been counted.
    if (refusal === undefined) done()
    else done(Object.assign(new Error(refusal), { reason: refusal }))
  }

  /** Stores one message. Answers why it must not be acknowledged, if so. */
  async #take(connection: MqttConnection, packet: AuthorizePublish[1]): Promise<string | undefined> {
    const { misunderstood, protocols, replica } = this.#shared
    const { session, unreleased } = connection
    const topic = readTopic(packet.topic)
    const protocol = topic && protocols.get(topic.protocol)
    if (!topic || !protocol) return refused('unknown_topic')
    if (!this.#isSameDevice(topic.device, session.device ?? '')) return refused('other_device')

    const payload = Buffer.from(packet.payload)
    const store = () => this.#store(connection, payload, protocol)
    const { qos, messageId = 0 } = packet
    const outcome = await (qos === 2
      ? storeOnce(unreleased, { messageId, topic: packet.topic, payload }, store)
      : store())
    if (outcome.status === 'stored') return undefined
    if (outcome.status !== 'misunderstood') return outcome.status
    const { device = '', now: at, secret } = session
    // Only for configured devices: a client that invents ids would fill the list and remove the payloads of real devices.
    if (replica.roster.find(device))
      misunderstood({ at, device, protocol: protocol.name, reason: outcome.reason, payload, secret })
    return undefined
  }

  /** Whether two spellings of an id name the same device. */
  #isSameDevice(one: string, other: string): boolean {
    const { roster } = this.#shared.replica
    return (roster.find(one) ?? sameId(one)) === (roster.find(other) ?? sameId(other))
  }

  async #store({ session }: MqttConnection, payload: Buffer, protocol: Protocol): Promise<FrameOutcome> {
    const { ingest, pressure } = this.#shared
    pressure.add(payload.length)
    try {
      return await ingest.take(payload, session, protocol)
    } finally {
      pressure.remove(payload.length)
    }
  }
}

/** `returnCode`: 4 bad user name or password, 5 not authorised. */
function loginRefusal(reason: 'unknown_device' | 'wrong_secret', returnCode: 4 | 5) {
  return Object.assign(new Error(refused(reason)), { returnCode })
}

function refused(reason: string): string {
  metrics.refused.inc({ reason })
  return reason
}

/** The device and the protocol of `devices/<device>/<protocol>` or `owntracks/<device>/<anything>`; undefined for other topics. */
function readTopic(topic: string): { readonly device: string; readonly protocol: string } | undefined {
  const [root, device, name, ...more] = topic.split('/')
  if (name === undefined) return undefined
  if (root === 'owntracks') return { device, protocol: 'owntracks' }
  return root === 'devices' && more.length === 0 ? { device, protocol: name } : undefined
}

/**
 * Stores a QoS 2 message, unless it repeats one that is not released: then its outcome is that one's. A device that lost its
 * memory may use an identifier for another message, so that a repeat must have the same bytes.
 */
async function storeOnce(
  unreleased: Unreleased,
  { messageId, topic, payload }: { readonly messageId: number; readonly topic: string; readonly payload: Buffer },
  store: () => Promise<FrameOutcome>,
): Promise<FrameOutcome> {
  const digest = createHash('sha256').update(topic).update('\n').update(payload).digest('base64')
  const earlier = unreleased.get(messageId)
  if (earlier?.digest === digest) return earlier.outcome

  const entry = { digest, outcome: store() }
  unreleased.delete(messageId)
  unreleased.set(messageId, entry)
  if (unreleased.size > MAX_UNRELEASED) unreleased.delete(unreleased.keys().next().value as number)
  const isStored = await entry.outcome.then(
    ({ status }) => status === 'stored',
    () => false,
  )
  if (!isStored && unreleased.get(messageId) === entry) unreleased.delete(messageId)
  return entry.outcome
}

/** The oldest is forgotten: at worst its message is stored twice. */
const MAX_UNRELEASED = 1000
