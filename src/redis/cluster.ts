import { createConnection, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis'
import { everySecond, within } from '../async.ts'

export interface ServerAddress {
  readonly host: string
  readonly port: number
}

/** Options of a connection to any node. */
type NodeAccess = Pick<RedisOptions, 'username' | 'password' | 'tls'>

/**
 * The nodes of a Redis Cluster, as this process knows them. All keys of a shard are in one slot: each connection is a plain one to
 * the master of its slot, and ends when another node becomes it.
 */
export class ClusterNodes {
  readonly #access: NodeAccess
  readonly #seeds: readonly ServerAddress[]
  /** By `host:port`: the configured nodes, and those that they named. */
  #known: ReadonlyMap<string, ServerAddress>
  readonly #asking = new Map<string, Redis>()
  readonly #watched = new Set<MasterConnector>()
  #looking: ReturnType<typeof everySecond> | undefined
  /** The last error of a node. */
  #trouble = 'none answers'

  constructor(seeds: readonly ServerAddress[], access: NodeAccess) {
    this.#seeds = seeds
    this.#known = byName(seeds)
    this.#access = access
  }

  /** For ioredis: connections to the master of a hash tag. */
  optionsFor(tag: string): RedisOptions {
    const Connector = connectorTo(this, slotOf(tag))
    return { ...this.#access, Connector, reconnectOnError: ({ message }) => MOVED.test(message) }
  }

  /** The node that most nodes name as the master of a slot. Rejects if no node answers, or the slot has no master. */
  async master(slot: number): Promise<ServerAddress> {
    const master = (await this.#askAll())(slot)
    if (!master) throw new Error(`no node of the Redis Cluster names the master of the slot: ${this.#trouble}`)
    return master
  }

  /** Resolves to a function that returns the master of a slot. */
  async #askAll(): Promise<(slot: number) => ServerAddress | undefined> {
    const answers = await Promise.all(Array.from(this.#known.values(), (node) => this.#ask(node)))
    const named = byName(answers.flat().flatMap(({ nodes }) => nodes))
    if (named.size > 0) this.#known = new Map([...byName(this.#seeds), ...named])
    return (slot) => {
      const masters = answers.flatMap((ranges) => {
        return ranges.find(({ first, last }) => first <= slot && slot <= last)?.nodes[0] ?? []
      })
      const [most] = [...Map.groupBy(masters, nameOf).values()].toSorted((a, b) => b.length - a.length)
      return most?.[0]
    }
  }

  /** Ends a connection once another node is the master. Returns a function that ends this watch. */
  watch(connector: MasterConnector): () => void {
    this.#watched.add(connector)
    this.#looking ??= everySecond({ look: () => this.#look() })
    return () => {
      this.#watched.delete(connector)
      this.rest()
    }
  }

  /** Ends what asks the nodes, unless a connection is watched. */
  rest(): void {
    if (this.#watched.size > 0) return
    void this.#looking?.stop()
    this.#looking = undefined
    for (const redis of this.#asking.values()) redis.disconnect()
    this.#asking.clear()
  }

  async #look(): Promise<void> {
    const masterOf = await this.#askAll()
    for (const connector of this.#watched) {
      const master = masterOf(connector.slot)
      if (master && nameOf(connector.address) !== nameOf(master)) connector.disconnect()
    }
  }

  /** Resolves to an empty list if the node does not answer. */
  async #ask(node: ServerAddress): Promise<SlotRange[]> {
    const name = nameOf(node)
    const redis = this.#asking.get(name) ?? new Redis({ ...node, ...this.#access, ...ASKING })
    if (!this.#asking.has(name)) redis.on('error', ({ message }) => (this.#trouble = message))
    this.#asking.set(name, redis)
    const ranges: SlotRange[] = []
    // A node that hangs accepts a connection, and then sends nothing.
    await within(
      ANSWER_MS,
      slotRanges(redis, node).then(
        (said) => ranges.push(...said),
        (error: Error) => {
          if (error.name === 'ReplyError') this.#trouble = error.message
        },
      ),
    )
    if (ranges.length > 0) return ranges
    // Several may have asked at once.
    if (this.#asking.get(name) === redis) {
      redis.disconnect()
      this.#asking.delete(name)
    }
    return []
  }
}

/** Some slots, and their nodes: the master, then the replicas. */
interface SlotRange {
  readonly first: number
  readonly last: number
  readonly nodes: readonly ServerAddress[]
}

/** Resolves to the slots according to one node. */
async function slotRanges(redis: Redis, node: ServerAddress): Promise<SlotRange[]> {
  if (redis.status === 'wait') await redis.connect()
  const ranges = await redis.cluster('SLOTS')
  return ranges.map(([first, last, ...nodes]) => ({
    first,
    last,
    // A node that does not know its own address leaves it out.
    nodes: nodes.map(([host, port]) => ({ host: host || node.host, port })),
  }))
}

/** Returns the slot of a hash tag: CRC-16/XMODEM of the text in its braces. */
function slotOf(tag: string): number {
  let crc = 0
  for (const byte of Buffer.from(tag.slice(1, -1))) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff
  }
  return crc % SLOTS
}

const SLOTS = 16_384

/** Connects to the master of a slot. */
class MasterConnector extends AbstractConnector {
  readonly slot: number
  readonly #nodes: ClusterNodes
  readonly #tls: RedisOptions['tls']
  /** The address of the present connection. */
  address: ServerAddress = { host: '', port: 0 }

  constructor({ nodes, slot }: { nodes: ClusterNodes; slot: number }, { disconnectTimeout, tls }: RedisOptions) {
    super(disconnectTimeout ?? ANSWER_MS)
    this.#nodes = nodes
    this.slot = slot
    this.#tls = tls
  }

  override check({ role }: { readonly role?: string }): boolean {
    return role === 'master'
  }

  override async connect(emit: (type: string, error: Error) => void): Promise<Socket> {
    this.connecting = true
    for (let attempt = 1; this.connecting; attempt++) {
      try {
        return this.#open(await this.#nodes.master(this.slot))
      } catch (error) {
        emit('error', error as Error)
        await pause(Math.min(attempt * 50, 1000))
      }
    }
    this.#nodes.rest()
    throw new Error('Connection is closed.')
  }

  #open(address: ServerAddress): Socket {
    if (!this.connecting) throw new Error('Connection is closed.')
    this.address = address
    const stream = this.#tls ? connectTls({ ...address, ...this.#tls }) : createConnection(address)
    stream.once('error', (error) => (this.firstError = error))
    stream.once('close', this.#nodes.watch(this))
    this.stream = stream
    return stream
  }
}

/** ioredis makes one for each connection, from its options alone. */
function connectorTo(nodes: ClusterNodes, slot: number): NonNullable<RedisOptions['Connector']> {
  return class extends MasterConnector {
    constructor(options: unknown) {
      super({ nodes, slot }, options as RedisOptions)
    }
  }
}

function byName(nodes: readonly ServerAddress[]): Map<string, ServerAddress> {
  return new Map(nodes.map((node) => [nameOf(node), node]))
}

function nameOf({ host, port }: ServerAddress): string {
  return `${host}:${port}`
}

/** Errors of a node that is no longer the master. */
const MOVED = /^(?:MOVED|READONLY)\b/
const ANSWER_MS = 1000
const ASKING: RedisOptions = {
  lazyConnect: true,
  retryStrategy: null,
  enableReadyCheck: false,
  connectTimeout: ANSWER_MS,
  commandTimeout: ANSWER_MS,
  disconnectTimeout: 100,
  disableClientInfo: true,
  connectionName: 'waybridge-cluster',
}
