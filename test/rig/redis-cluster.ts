import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { untilSo } from '../support/processes.ts'
import { mostNamed, RedisServers, type ServersOptions } from './redis-servers.ts'

interface ClusterOptions extends ServersOptions {
  /** After which a node is taken for lost. */
  readonly nodeTimeoutMs?: number
  /** Of the product: each has a slot, the first three on masters of their own. */
  readonly shards?: number
}

/** A real Redis Cluster: three masters, each with as many replicas as there are machines for. */
export class RedisCluster extends RedisServers {
  readonly #options: ClusterOptions
  /** By machine. */
  readonly #ids: string[] = []
  /** What is done to "our slot" is done to this one. */
  #slot: number = SLOTS[0]

  private constructor(dir: string, options: ClusterOptions) {
    super(dir, options)
    this.#options = options
  }

  /** The first three machines have the masters. Resolves once all know each other and the replicas are in step. */
  static async start(options: ClusterOptions): Promise<RedisCluster> {
    const cluster = new RedisCluster(await RedisServers.makeDir(options.machines), options)
    for (const index of options.machines.keys()) {
      await cluster.#startRedis(index)
      cluster.#ids[index] = await cluster.redis(index, (redis) => redis.cluster('MYID'))
    }
    for (let index = 0; index < MASTERS; index++)
      await cluster.redis(index, async (redis) => {
        await redis.cluster('SET-CONFIG-EPOCH', index + 1)
        await redis.cluster('ADDSLOTSRANGE', ...slotsOf(index))
      })
    for (const index of options.machines.keys()) if (index > 0) await cluster.#meet(index, 0)
    for (const index of options.machines.keys()) if (index >= MASTERS) await cluster.#replicate(index, index % MASTERS)
    await cluster.inStep()
    return cluster
  }

  /** For gateway.yaml: some of the nodes. */
  get settings(): string {
    const nodes = this.machines.slice(1, 4).map(({ host, port }) => `"${host}:${port}"`)
    return `{ cluster: [${nodes.join(', ')}], replicas: ${this.#replicas} }`
  }

  get #slots(): readonly number[] {
    return SLOTS.slice(0, this.#options.shards ?? 1)
  }

  get #replicas(): number {
    return Math.floor(this.machines.length / MASTERS) - 1
  }

  /** From now on another shard's slot is ours. */
  aim(pick: number): void {
    this.#slot = this.#slots[pick % this.#slots.length]
  }

  /** The machine that most nodes take for the master of our slot. Rejects if none answers. */
  async primary(): Promise<number> {
    const said = await Promise.all(this.machines.map((_, index) => this.#nodesOfSlot(index).catch(() => [])))
    return mostNamed(said.map(([master]) => master ?? -1))
  }

  /** A machine with a replica of our slot. */
  async replica(pick = 0): Promise<number> {
    const [, ...replicas] = await this.#nodesOfSlot(await this.primary())
    return replicas[pick % replicas.length]
  }

  /** Starts the Redis of a machine again, once another one is the master: one that has lost its data as a new replica. */
  async revive(index: number): Promise<void> {
    await this.hasLeft(index)
    const isNew = !existsSync(join(this.dirOf(index), 'nodes.conf'))
    const before = this.#ids[index]
    await this.#startRedis(index)
    if (!isNew) return
    this.#ids[index] = await this.redis(index, (redis) => redis.cluster('MYID'))
    const primary = await this.primary()
    const others = [...this.machines.keys()].filter((each) => each !== index)
    for (const other of others) await this.redis(other, (redis) => redis.cluster('FORGET', before)).catch(() => {})
    await this.#meet(index, primary)
    await this.#replicate(index, primary)
  }

  /** Makes a replica the master though that one is well; resolves once the nodes name it. */
  async failOver(): Promise<void> {
    await this.leave(await this.primary(), async () =>
      this.redis(await this.replica(), (redis) => redis.cluster('FAILOVER')),
    )
  }

  /** Has Valkey 9 move our slot to another master in one step; resolves once the nodes name that. */
  async moveSlot(pick = 0): Promise<void> {
    const primary = await this.primary()
    const others = (await this.#masters()).filter((index) => index !== primary)
    const target = others[pick % others.length]
    const move = ['MIGRATESLOTS', 'SLOTSRANGE', this.#slot, this.#slot, 'NODE', this.#ids[target]]
    await this.redis(primary, (redis) => redis.call('CLUSTER', ...move))
    await this.hasLeft(primary)
  }

  /** All nodes name the same masters of all shards' slots. */
  protected async isInStep(): Promise<boolean> {
    const slots = await Promise.all(this.#slots.map((slot) => this.#isSlotInStep(slot)))
    const infos = await Promise.all(
      this.machines.map((_, index) => this.redis(index, (redis) => redis.cluster('INFO'))),
    )
    const known = `cluster_known_nodes:${this.machines.length}\r`
    return slots.every(Boolean) && infos.every((info) => info.includes('cluster_state:ok') && info.includes(known))
  }

  async #isSlotInStep(slot: number): Promise<boolean> {
    const nodes = await Promise.all(this.machines.map((_, index) => this.#nodesOfSlot(index, slot)))
    const [[primary]] = nodes
    const isKnown = nodes.every(([master, ...replicas]) => master === primary && replicas.length === this.#replicas)
    if (!isKnown) return false
    return this.hasReplicas(primary, this.#replicas)
  }

  /** The machines of our slot, as one of them says: that of the master, then those of the replicas. */
  async #nodesOfSlot(index: number, slot = this.#slot): Promise<number[]> {
    const ranges = await this.redis(index, (redis) => redis.cluster('SLOTS'))
    const [, , ...nodes] = ranges.find(([first, last]) => first <= slot && slot <= last) ?? []
    return nodes.map(([host, port]) => this.machines.findIndex((each) => each.host === host && each.port === port))
  }

  async #masters(): Promise<number[]> {
    const machines = [...this.machines.keys()]
    const infos = await Promise.all(machines.map((index) => this.redis(index, (redis) => redis.info('replication'))))
    return machines.filter((index) => infos[index].includes('role:master'))
  }

  /** Makes a machine known to another one, which tells the others. */
  async #meet(index: number, other: number): Promise<void> {
    const { host, port, sentinelPort } = this.machines[index]
    await this.redis(other, (redis) => redis.cluster('MEET', host, port, sentinelPort))
  }

  /** Resolves once a machine has become the replica of another. */
  async #replicate(index: number, master: number): Promise<void> {
    const id = this.#ids[master]
    // It has to know the master.
    await untilSo(() => this.redis(index, async (redis) => (await redis.cluster('REPLICATE', id)) === 'OK'))
  }

  async #startRedis(index: number): Promise<void> {
    const { nodeTimeoutMs = 5000, tls } = this.#options
    await this.startServer(
      index,
      `
cluster-enabled yes
cluster-port ${this.machines[index].sentinelPort}
cluster-node-timeout ${nodeTimeoutMs}
${tls ? 'tls-cluster yes' : ''}
cluster-allow-replica-migration no
cluster-require-full-coverage no
min-replicas-to-write ${this.#replicas}
`,
    )
    await untilSo(() => this.redis(index, async (redis) => (await redis.ping()) === 'PONG'))
  }
}

const MASTERS = 3
/** Of `{wb0}`, `{wb1}` … */
const SLOTS = [1667, 5794, 9921, 14_048] as const

/** A quarter each, the last master has the rest: so the slots of three shards are on three masters. */
function slotsOf(index: number): [number, number] {
  return [index * 4096, index === MASTERS - 1 ? 16_383 : (index + 1) * 4096 - 1]
}
