import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { findRedisServer } from '../../src/process/setup/redis-server.mjs'
import { spawnTethered, type Tethered } from '../../src/process/tether.ts'
import { pidsIn, signal } from './processes.ts'

/** What the Sentinels call the primary. */
export const GROUP_NAME = 'waybridge'

/** One machine of a group: a Redis and a Sentinel. */
export interface Machine {
  readonly host: string
  readonly port: number
  readonly sentinelPort: number
  /** The command that runs others on this machine; left out: none. */
  readonly within?: readonly string[]
}

export interface GroupOptions {
  readonly machines: readonly Machine[]
  /** How many replicas must have a write; left out: all machines but one. */
  readonly replicas?: number
  /** Of servers and Sentinels; left out: none. */
  readonly password?: string
  /** After which a Sentinel takes the primary for lost. */
  readonly downAfterMs?: number
}

/** A real primary with replicas and Sentinels, the Redis of each with AOF and fsync always. It ends with this process at the latest. */
export class RedisGroup {
  readonly #dir: string
  readonly #options: GroupOptions
  readonly #redis: Tethered[] = []
  readonly #sentinels: Tethered[] = []

  private constructor(dir: string, options: GroupOptions) {
    this.#dir = dir
    this.#options = options
  }

  /** The first machine has the primary. Resolves once all replicas are in step and the Sentinels know each other. */
  static async start(options: GroupOptions): Promise<RedisGroup> {
    const group = new RedisGroup(await mkdtemp(join(tmpdir(), 'waybridge-group-')), options)
    for (const [index, machine] of options.machines.entries()) {
      await mkdir(group.redisDir(index))
      await mkdir(group.#sentinelDir(index))
      await writeFile(group.#sentinelFile(index), sentinelConf(machine, group.#sentinelDir(index), options))
      group.#redis[index] = await group.#spawnRedis(index, index === 0 ? undefined : options.machines[0])
    }
    // A Sentinel asks the primary for its replicas at its start, and every ten seconds.
    while (!(await group.#hasReplicas(0).catch(() => false))) await pause(50)
    for (const index of options.machines.keys())
      group.#sentinels[index] = group.#spawn(index, group.#sentinelFile(index), '--sentinel')
    await group.inStep()
    return group
  }

  /** For gateway.yaml. */
  get settings(): string {
    const sentinels = this.#options.machines.map(({ host, sentinelPort }) => `"${host}:${sentinelPort}"`)
    return `{ sentinels: [${sentinels.join(', ')}], name: ${GROUP_NAME}, replicas: ${this.#replicas} }`
  }

  get #replicas(): number {
    return this.#options.replicas ?? this.#options.machines.length - 1
  }

  /** The machine whose Redis most Sentinels take for the primary. Rejects where none answers. */
  async primary(): Promise<number> {
    const said = await Promise.all(this.#options.machines.map((machine) => this.#askSentinel(machine).catch(() => -1)))
    const known = said.filter((index) => index >= 0)
    const votes = Map.groupBy(known, (index) => index)
    const [most] = [...votes].toSorted(([, a], [, b]) => b.length - a.length)
    if (!most) throw new Error('no Sentinel answers')
    return most[0]
  }

  /** Kills the Redis of a machine for good: nothing of its data remains. */
  async destroy(index: number): Promise<void> {
    await this.kill(index)
    await rm(this.redisDir(index), { recursive: true })
    await mkdir(this.redisDir(index))
  }

  /** Kills the Redis of a machine; its data remain. */
  async kill(index: number): Promise<void> {
    for (const pid of pidsIn(this.redisDir(index))) signal(pid, 'SIGKILL')
    await this.#redis[index].exited
  }

  /**
   * Starts the Redis of a machine again, as a replica of the primary that the Sentinels name: one with an empty folder that
   * took itself for the primary would empty all others. Waits until they name another machine.
   */
  async revive(index: number): Promise<void> {
    let primary = await this.primary()
    for (; primary === index; primary = await this.primary()) await pause(100)
    this.#redis[index] = await this.#spawnRedis(index, this.#options.machines[primary])
  }

  /** Stops or continues the Redis of a machine. */
  signal(index: number, name: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of pidsIn(this.redisDir(index))) signal(pid, name)
  }

  /** Has the Sentinels make another machine the primary though this one is well; resolves once they name it. */
  async failOver(): Promise<void> {
    const before = await this.primary()
    await this.#withServer(this.#options.machines[0], 'sentinelPort', (sentinel) =>
      sentinel.call('SENTINEL', 'FAILOVER', GROUP_NAME),
    )
    while ((await this.primary()) === before) await pause(100)
  }

  /** Resolves once the primary has all other machines as replicas that are in step, and every Sentinel names it. */
  async inStep(patienceMs = 60_000): Promise<void> {
    const deadline = Date.now() + patienceMs
    while (!(await this.#isInStep().catch(() => false))) {
      if (Date.now() > deadline) throw new Error('the replicas are not in step')
      await pause(100)
    }
  }

  /** Runs commands on the Redis of a machine. */
  redis<Result>(index: number, work: (redis: Redis) => Promise<Result>): Promise<Result> {
    return this.#withServer(this.#options.machines[index], 'port', work)
  }

  redisDir(index: number): string {
    return join(this.#dir, `redis-${index}`)
  }

  async stop({ keep = false } = {}): Promise<void> {
    await Promise.all([...this.#redis, ...this.#sentinels].map((process) => process.end(2000)))
    if (!keep) await rm(this.#dir, { recursive: true, force: true })
  }

  async #isInStep(): Promise<boolean> {
    const { machines } = this.#options
    const primary = await this.primary()
    const named = await Promise.all(machines.map((machine) => this.#askSentinel(machine)))
    const known = await Promise.all(machines.map((machine) => this.#knownOthers(machine)))
    if (named.some((index) => index !== primary) || known.some((count) => count < machines.length - 1)) return false
    return this.#hasReplicas(primary)
  }

  async #askSentinel(machine: Machine): Promise<number> {
    const answer = await this.#withServer(machine, 'sentinelPort', (sentinel) =>
      sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', GROUP_NAME),
    )
    const [host, port] = answer as [string, string]
    return this.#options.machines.findIndex((each) => each.host === host && each.port === Number(port))
  }

  async #hasReplicas(primary: number): Promise<boolean> {
    const info = await this.redis(primary, (redis) => redis.info('replication'))
    return (info.match(/^slave\d+:.*state=online/gm) ?? []).length === this.#options.machines.length - 1
  }

  /** How many Sentinels and replicas a Sentinel knows: the lesser number; none while it makes another machine the primary. */
  async #knownOthers(machine: Machine): Promise<number> {
    const fields = (await this.#withServer(machine, 'sentinelPort', (sentinel) =>
      sentinel.call('SENTINEL', 'MASTER', GROUP_NAME),
    )) as string[]
    if (fields[fields.indexOf('flags') + 1].includes('failover_in_progress')) return 0
    const numberOf = (field: string) => Number(fields[fields.indexOf(field) + 1])
    return Math.min(numberOf('num-other-sentinels'), numberOf('num-slaves'))
  }

  async #withServer<Result>(
    { host, ...machine }: Machine,
    port: 'port' | 'sentinelPort',
    work: (redis: Redis) => Promise<Result>,
  ): Promise<Result> {
    const { password } = this.#options
    const timeouts = { connectTimeout: 1000, commandTimeout: 1000 }
    const redis = new Redis({
      host,
      port: machine[port],
      password,
      lazyConnect: true,
      retryStrategy: null,
      ...timeouts,
    })
    redis.on('error', () => {})
    try {
      await redis.connect()
      return await work(redis)
    } finally {
      redis.disconnect()
    }
  }

  async #spawnRedis(index: number, primary?: Machine): Promise<Tethered> {
    const file = join(this.#dir, `redis-${index}.conf`)
    const dir = this.redisDir(index)
    await writeFile(
      file,
      redisConf(this.#options.machines[index], { ...this.#options, dir, primary, replicas: this.#replicas }),
    )
    return this.#spawn(index, file)
  }

  #spawn(index: number, ...args: string[]): Tethered {
    const server = findRedisServer()
    if (!server) throw new Error('there is no redis-server')
    const { within = [] } = this.#options.machines[index]
    const env = { ...process.env, ...server.env, TETHER_GRACE_S: '2' }
    return spawnTethered([...within, server.command, ...args], { env, log: join(this.#dir, `${index}.log`) })
  }

  #sentinelDir(index: number): string {
    return join(this.#dir, `sentinel-${index}`)
  }

  #sentinelFile(index: number): string {
    return join(this.#dir, `sentinel-${index}.conf`)
  }
}

interface RedisConf extends Pick<GroupOptions, 'password'> {
  readonly dir: string
  readonly primary?: Machine
  readonly replicas: number
}

function redisConf({ host, port }: Machine, { dir, password, primary, replicas }: RedisConf): string {
  return `
bind ${host}
protected-mode no
port ${port}
dir ${dir}
appendonly yes
appendfsync always
save ""
maxmemory 256mb
maxmemory-policy noeviction
min-replicas-to-write ${replicas}
repl-diskless-sync yes
repl-diskless-sync-delay 0
${password ? `requirepass ${password}\nmasterauth ${password}` : ''}
${primary ? `replicaof ${primary.host} ${primary.port}` : ''}
`
}

function sentinelConf({ host, sentinelPort }: Machine, dir: string, options: GroupOptions): string {
  const { machines, password, downAfterMs = 5000 } = options
  return `
bind ${host}
protected-mode no
port ${sentinelPort}
dir ${dir}
sentinel monitor ${GROUP_NAME} ${machines[0].host} ${machines[0].port} ${Math.floor(machines.length / 2) + 1}
sentinel down-after-milliseconds ${GROUP_NAME} ${downAfterMs}
sentinel failover-timeout ${GROUP_NAME} 10000
sentinel parallel-syncs ${GROUP_NAME} 1
${password ? `requirepass ${password}\nsentinel auth-pass ${GROUP_NAME} ${password}` : ''}
`
}
