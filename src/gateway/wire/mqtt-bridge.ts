import { createHash } from 'node:crypto'
import type { Protocol } from '../../../protocols/kit/index.ts'
import type { Bridge, BridgeTopic } from '../../config/bridge.ts'
import { inGateway } from '../../config/problem.ts'
import { MAX_ID_BYTES } from '../../domain/ids.ts'
import { masked } from '../../masking.ts'
import { metrics, type RefusedReason } from '../../observe/metrics.ts'
import { observations } from '../../observe/observations.ts'
import { type Text, withStrings } from '../../texts/text.ts'
import { Conversation } from '../conversation.ts'
import { CLOSE_WAIT_MS, type Shared } from './listener.ts'
import { BridgeConnection } from './mqtt-bridge-connection.ts'

/** What a bridge needs from its gateway. */
export interface BridgeShared extends Pick<Shared, 'ingest' | 'journal' | 'limits' | 'logger' | 'pressure'> {
  readonly protocolNamed: (name: string) => Promise<Protocol | undefined>
  /** The installation, and the number of this gateway, from 0 on; both stay the same over a restart. */
  readonly gateway: { readonly installation: string; readonly slot: number }
}

/** A topic pattern, ready to match. */
interface Subscription {
  /** Its first group is the id of the device. */
  readonly pattern: RegExp
  readonly protocol: Protocol
}

type MessageOutcome = 'stored' | 'refused' | 'not_kept' | 'not_stored'

/** Subscribes to a customer's own broker. @throws ConfigError if a protocol cannot be used in messages */
export async function openBridge(bridge: Bridge, shared: BridgeShared): Promise<MqttBridge> {
  const topics = await Promise.all(bridge.topics.map((topic) => subscriptionOf(topic, bridge, shared)))
  return new MqttBridge(bridge, topics, shared)
}

/** A bridge: it keeps a connection to its broker, and stores what devices publish there. */
export class MqttBridge {
  readonly #bridge: Bridge
  readonly #topics: readonly Subscription[]
  readonly #shared: BridgeShared
  readonly #clientId: string
  readonly #endNoting: () => void
  #connection: BridgeConnection | undefined
  #connectedAt = 0
  #retry: NodeJS.Timeout | undefined
  #delayMs = FIRST_DELAY_MS
  #hadSession = false
  #isClosed = false
  /** Why no messages arrive; empty: they do. */
  #troubles: readonly Text[] = []

  constructor(bridge: Bridge, topics: readonly Subscription[], shared: BridgeShared) {
    this.#bridge = bridge
    this.#topics = topics
    this.#shared = shared
    this.#clientId = clientIdOf(bridge, shared.gateway)
    this.#endNoting = observations.noteLasting(() => this.#note())
    for (const outcome of OUTCOMES) metrics.bridgeMessages.inc({ bridge: bridge.name, outcome }, 0)
    shared.pressure.follow(() => this.#connection?.adjustReading())
    this.#connect()
  }

  /** Takes nothing more. Resolves once the messages read so far are stored and acknowledged, or after `waitMs`. */
  async close(waitMs = CLOSE_WAIT_MS): Promise<void> {
    this.#isClosed = true
    this.#endNoting()
    clearTimeout(this.#retry)
    await this.#connection?.close(waitMs)
    metrics.bridgeConnected.set({ bridge: this.#bridge.name }, 0)
  }

  #connect(): void {
    this.#connectedAt = Date.now()
    metrics.bridgeConnected.set({ bridge: this.#bridge.name }, 0)
    try {
      this.#connection = new BridgeConnection(this.#bridge, this.#clientId, {
        subscribed: (refused, hasSession) => this.#subscribed(refused, hasSession),
        published: (topic, payload) => this.#take(topic, payload),
        isHigh: () => this.#shared.pressure.isHigh,
        ended: (cause) => this.#ended(cause),
      })
    } catch (error) {
      this.#ended((error as Error).message)
    }
  }

  #subscribed(refused: readonly Text[], hasSession: boolean): void {
    const { name: bridge } = this.#bridge
    this.#troubles = refused
    metrics.bridgeConnected.set({ bridge }, 1)
    if (this.#hadSession && !hasSession)
      this.#shared.logger.warn({ bridge }, 'the broker has forgotten our session, and what it kept for it')
    this.#hadSession = true
  }

  #ended(cause?: Text): void {
    this.#connection = undefined
    metrics.bridgeConnected.set({ bridge: this.#bridge.name }, 0)
    if (this.#isClosed) return
    const hasLasted = Date.now() - this.#connectedAt > MAX_DELAY_MS
    if (cause === undefined || hasLasted) this.#delayMs = FIRST_DELAY_MS
    const mask = (string: string) => masked(string, this.#bridge.password ?? '')
    this.#troubles = cause === undefined ? [] : [withStrings(cause, mask)]
    this.#note()
    this.#retry = setTimeout(() => this.#connect(), this.#delayMs * (0.5 + Math.random() / 2))
    this.#delayMs = Math.min(2 * this.#delayMs, MAX_DELAY_MS)
  }

  #note(): void {
    const subject = { listener: `bridge ${this.#bridge.name}` }
    const evidence = this.#troubles
    if (evidence.length > 0) observations.noteState('bridge_down', { subject, evidence, count: evidence.length })
  }

  /** Takes a message. Returns whether it may be acknowledged: it is stored, or can never be stored. */
  async #take(topic: string, payload: Buffer): Promise<boolean> {
    const { name: bridge } = this.#bridge
    const outcome = await this.#store(topic, payload).catch((error: unknown) => {
      this.#shared.journal.fault(error, { what: 'fault in handling a message of a bridge', bridge })
      return 'not_stored' as const
    })
    metrics.bridgeMessages.inc({ bridge, outcome })
    return outcome !== 'not_stored'
  }

  async #store(topic: string, payload: Buffer): Promise<MessageOutcome> {
    const { ingest, limits, pressure } = this.#shared
    const found = this.#find(topic)
    if (!found) return refuse('unknown_topic')
    if (payload.length > limits.max_frame_bytes) return refuse('frame_too_long')
    pressure.add(payload.length)
    const taken = ingest.take(payload, this.#sessionOf(found.device), found.protocol)
    const outcome = await taken.finally(() => pressure.add(-payload.length, -1))
    if (outcome.status === 'not_stored') return outcome.reason === 'misunderstood' ? 'not_kept' : 'not_stored'
    return outcome.status === 'refused' ? 'refused' : 'stored'
  }

  #find(topic: string): { readonly device: string; readonly protocol: Protocol } | undefined {
    for (const { pattern, protocol } of this.#topics) {
      const device = pattern.exec(topic)?.[1]
      if (device && Buffer.byteLength(device) <= MAX_ID_BYTES) return { device, protocol }
    }
    return undefined
  }

  /** Each message has a session of its own: with a shared subscription, the previous message may have gone to another gateway. */
  #sessionOf(device: string): Conversation {
    const { name: bridge } = this.#bridge
    const about = { connectedAt: this.#connectedAt, device, bridge, isRelayed: true }
    return new Conversation('mqtt', `bridge ${bridge}`, about)
  }
}

async function subscriptionOf(
  { device, filter, protocol: name }: BridgeTopic,
  bridge: Bridge,
  { protocolNamed }: Pick<BridgeShared, 'protocolNamed'>,
): Promise<Subscription> {
  const protocol = await protocolNamed(name)
  if (!protocol?.decode)
    throw inGateway(`cannot open bridge ${bridge.name}: ${name} is spoken over HTTP alone, and not in messages`)
  return { pattern: patternOf(filter, device), protocol }
}

/** The topics that a filter of MQTT stands for, with the level that names the device as a group. */
function patternOf(filter: string, device: number): RegExp {
  const levels = filter.split('/').map((level, index) => {
    if (level === '#') return '(?:/.*)?'
    const one = level === '+' ? '[^/]*' : RegExp.escape(level)
    return (index > 0 ? '/' : '') + (index === device ? `(${one})` : one)
  })
  return new RegExp(`^${levels.join('')}$`, 's')
}

/** Returns the id of a persistent session: short enough for MQTT 3.1.1, and the same after each start. */
function clientIdOf({ client_id, name }: Bridge, { installation, slot }: BridgeShared['gateway']): string {
  if (client_id !== undefined) return slot === 0 ? client_id : `${client_id}-${slot + 1}`
  return `wb${createHash('sha256').update(`${installation}\n${slot}\n${name}`).digest('hex').slice(0, 20)}`
}

function refuse(reason: RefusedReason): MessageOutcome {
  metrics.refused.inc({ reason })
  return 'refused'
}

const OUTCOMES = ['stored', 'refused', 'not_kept', 'not_stored'] satisfies MessageOutcome[]
const FIRST_DELAY_MS = 1000
const MAX_DELAY_MS = 30_000
