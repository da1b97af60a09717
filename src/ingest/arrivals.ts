import type { Fix, Transport } from '../../protocols/kit/index.ts'
import { everySecond } from '../async.ts'
import { HELD_LISTS, heldAmong, keys, type Redis } from '../lanes/index.ts'
import { sameId } from '../config/units.ts'
import type { DeviceSession } from './device.ts'
import { addressOf, networkOf } from './network.ts'

/** Somebody whom nobody has configured, or nobody understands: as it stands in Redis. Instants in ms UTC. */
export interface ArrivedSender {
  readonly at: number
  /** Of the sender. */
  readonly address: string
  readonly transport: Transport
  /** The gateway's port; undefined over MQTT. */
  readonly port?: number
  /** What the port expects, or what was decoded or guessed. */
  readonly protocol?: string
  /** Why this protocol is believed, or could be. */
  readonly evidence: readonly string[]
  readonly device?: string
  /** Of a connection that nobody understood: its first bytes, as hex. */
  readonly bytes?: string
  readonly position?: { readonly time: number; readonly latitude: number; readonly longitude: number }
}

/** A sender that nobody understood. */
interface NotUnderstood {
  readonly port: number
  readonly protocol: string | undefined
  readonly bytes: Buffer
  readonly guesses: readonly { readonly protocol: { readonly name: string }; readonly evidence: readonly string[] }[]
}

/** Keeps in Redis who arrived and is not configured, or was not understood; written once a second, and nobody waits for it. */
export class Arrivals {
  readonly #redis: Redis
  readonly #maxDevices: number
  /** JSON, latest last. */
  #notUnderstood: string[] = []
  #networks = new Map<string, number>()
  #devices = new Map<string, ArrivedSender>()
  readonly #writing: ReturnType<typeof everySecond>
  #writes = 0

  constructor(redis: Redis, maxDevices: number) {
    this.#redis = redis
    this.#maxDevices = maxDevices
    this.#writing = everySecond(() => this.#write().catch(() => {}))
  }

  /** A sender was not understood; of a network a few in ten seconds are kept, so that none fills the list. */
  notUnderstood({ remote, transport, now, connectedAt }: DeviceSession, beginning: NotUnderstood): void {
    const { port, protocol, bytes, guesses } = beginning
    const network = networkOf(addressOf(remote))
    const count = this.#networks.get(network) ?? 0
    if (count >= PER_NETWORK || this.#networks.size >= MAX_NETWORKS) return
    this.#networks.set(network, count + 1)
    const evidence = guesses
      .slice(0, MAX_GUESSES)
      .map((guess) => `${guess.protocol.name}: ${guess.evidence.join(', ')}`)
    const at = Math.max(now, connectedAt)
    const arrival = { at, address: remote, transport, port, protocol, evidence, bytes: bytes.toString('hex', 0, 256) }
    this.#notUnderstood.push(JSON.stringify(arrival satisfies ArrivedSender))
    if (this.#notUnderstood.length > KEPT) this.#notUnderstood.shift()
  }

  /** Fixes of a device that is not configured are held. */
  unconfigured(device: string, session: DeviceSession, { protocol, fix }: { protocol: string; fix: Fix }): void {
    const id = sameId(device)
    if (!this.#devices.has(id) && this.#devices.size >= this.#maxDevices) return
    const { evidence = [], now: at, port, remote: address, transport } = session
    const { time, latitude, longitude } = fix
    const position = { time, latitude, longitude }
    this.#devices.set(id, { at, address, transport, port, protocol, evidence, device, position })
  }

  async close(): Promise<void> {
    await this.#writing.stop()
    await this.#write().catch(() => {})
  }

  async #write(): Promise<void> {
    if (++this.#writes % FORGET_EVERY_S === 0) await this.#forgetConfigured()
    if (this.#writes % 10 === 0) this.#networks = new Map()
    const connections = this.#notUnderstood.splice(0)
    const devices = [...this.#devices].flatMap(([id, arrival]) => [id, JSON.stringify(arrival)])
    this.#devices = new Map()
    const writes = this.#redis.multi()
    if (connections.length > 0) writes.lpush(keys.arrivals, ...connections).ltrim(keys.arrivals, 0, KEPT - 1)
    if (devices.length > 0) writes.hset(keys.arrivedDevices, ...devices)
    if (writes.length > 0) await writes.exec()
  }

  /** Forgets the devices of which nothing is held any more: they are configured now, or have been given up. */
  async #forgetConfigured(): Promise<void> {
    const known = await this.#redis.hkeys(keys.arrivedDevices)
    const held = new Set<string>()
    for (const lists of UNKNOWN_LISTS) for (const id of await heldAmong(this.#redis, lists, known)) held.add(id)
    const gone = known.filter((id) => !held.has(id) && !this.#devices.has(id))
    if (gone.length > 0) await this.#redis.hdel(keys.arrivedDevices, ...gone)
  }
}

/** Who arrived, the latest first, with the number of fixes that are held of each device. */
export async function surveyArrivals(redis: Redis): Promise<(ArrivedSender & { readonly waiting: number })[]> {
  const [connections, devices] = await Promise.all([
    redis.lrange(keys.arrivals, 0, -1),
    redis.hgetall(keys.arrivedDevices),
  ])
  const ids = Object.keys(devices)
  const counts = await Promise.all(ids.map((id) => countHeld(redis, id)))
  const ofDevices = ids.map((id, index) => ({ ...(JSON.parse(devices[id]) as ArrivedSender), waiting: counts[index] }))
  const notUnderstood = connections.map((json) => ({ ...(JSON.parse(json) as ArrivedSender), waiting: 0 }))
  return [...ofDevices.filter(({ waiting }) => waiting > 0), ...notUnderstood].toSorted(
    (one, other) => other.at - one.at,
  )
}

async function countHeld(redis: Redis, id: string): Promise<number> {
  const counts = await Promise.all(UNKNOWN_LISTS.map(({ name }) => redis.llen(keys.held(name, id))))
  return counts.reduce((sum, count) => sum + count, 0)
}

const UNKNOWN_LISTS = HELD_LISTS.filter(({ reason }) => reason === 'unknown')
const KEPT = 500
const PER_NETWORK = 10
const MAX_NETWORKS = 10_000
const MAX_GUESSES = 3
const FORGET_EVERY_S = 60
