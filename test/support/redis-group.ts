import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { type Machine, portSettings, RedisServers, type ServersOptions } from './redis-servers.ts'

/** What the Sentinels call the primary. */
export const GROUP_NAME = 'waybridge'

interface GroupOptions extends ServersOptions {
  /** How many replicas must have a write; left out: all machines but one. */
  readonly replicas?: number
  /** After which a Sentinel takes the primary for lost. */
  readonly downAfterMs?: number
}

/** A real primary with replicas and Sentinels. */
export class RedisGroup {
  readonly #servers: RedisServers
  readonly #options: GroupOptions

  private constructor(servers: RedisServers, options: GroupOptions) {
    this.#servers = servers
    this.#options = options
  }

  /** The first machine has the primary. Resolves once all replicas are in step and the Sentinels know each other. */
  static async start(options: GroupOptions): Promise<RedisGroup> {
    const servers = await RedisServers.prepare(options)
    const group = new RedisGroup(servers, options)
    for (const [index, machine] of options.machines.entries()) {
      const dir = join(servers.dir, `sentinel-${index}`)
      await mkdir(dir)
      await writeFile(`${dir}.conf`, sentinelConf(machine, dir, options))
      await group.#startRedis(index, index === 0 ? undefined : options.machines[0])
    }
    // A Sentinel asks the primary for its replicas at its start, and every ten seconds.
    while (!(await group.#hasReplicas(0).catch(() => false))) await pause(50)
    for (const index of options.machines.keys())
      servers.startSentinel(index, join(servers.dir, `sentinel-${index}.conf`))
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
    const { machines } = this.#options
    const said = await Promise.all(machines.map((_, index) => this.#askSentinel(index).catch(() => -1)))
    const known = said.filter((index) => index >= 0)
    const votes = Map.groupBy(known, (index) => index)
    const [most] = [...votes].toSorted(([, a], [, b]) => b.length - a.length)
    if (!most) throw new Error('no Sentinel answers')
    return most[0]
  }

  /** A machine with a replica. */
  async replica(pick = 0): Promise<number> {
    const { length } = this.#options.machines
    return ((await this.primary()) + 1 + (pick % (length - 1))) % length
  }

  /** Kills the Redis of a machine for good: nothing of its data remains. */
  destroy(index: number): Promise<void> {
    return this.#servers.destroy(index)
  }

  /** Kills the Redis of a machine; its data remain. */
  kill(index: number): Promise<void> {
    return this.#servers.kill(index)
  }

  /**
   * Starts the Redis of a machine again, as a replica of the primary that the Sentinels name: one with an empty folder that
   * took itself for the primary would empty all others. Waits until they name another machine.
   */
  async revive(index: number): Promise<void> {
    let primary = await this.primary()
    for (; primary === index; primary = await this.primary()) await pause(100)
    await this.#startRedis(index, this.#options.machines[primary])
  }

  /** Stops or continues the Redis of a machine. */
  signal(index: number, name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#servers.signal(index, name)
  }

  /** Has the Sentinels make another machine the primary though this one is well; resolves once they name it. */
  async failOver(): Promise<void> {
    const before = await this.primary()
    await this.#servers.run(0, (sentinel) => sentinel.call('SENTINEL', 'FAILOVER', GROUP_NAME), 'sentinelPort')
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
    return this.#servers.run(index, work)
  }

  /** The folder of a machine's Redis. */
  redisDir(index: number): string {
    return this.#servers.dirOf(index)
  }

  stop(options?: { readonly keep?: boolean }): Promise<void> {
    return this.#servers.stop(options)
  }

  async #isInStep(): Promise<boolean> {
    const { machines } = this.#options
    const primary = await this.primary()
    const named = await Promise.all(machines.map((_, index) => this.#askSentinel(index)))
    const known = await Promise.all(machines.map((_, index) => this.#knownOthers(index)))
    if (named.some((index) => index !== primary) || known.some((count) => count < machines.length - 1)) return false
    return this.#hasReplicas(primary)
  }

  async #askSentinel(index: number): Promise<number> {
    const answer = await this.#servers.run(
      index,
      (sentinel) => sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', GROUP_NAME),
      'sentinelPort',
    )
    const [host, port] = answer as [string, string]
    return this.#options.machines.findIndex((each) => each.host === host && each.port === Number(port))
  }

  async #hasReplicas(primary: number): Promise<boolean> {
    const info = await this.redis(primary, (redis) => redis.info('replication'))
    return (info.match(/^slave\d+:.*state=online/gm) ?? []).length === this.#options.machines.length - 1
  }

  /** How many Sentinels and replicas a Sentinel knows: the lesser number; none while it makes another machine the primary. */
  async #knownOthers(index: number): Promise<number> {
    const fields = (await this.#servers.run(
      index,
      (sentinel) => sentinel.call('SENTINEL', 'MASTER', GROUP_NAME),
      'sentinelPort',
    )) as string[]
    const valueOf = (field: string) => fields[fields.indexOf(field) + 1]
    if (valueOf('flags').includes('failover_in_progress')) return 0
    return Math.min(Number(valueOf('num-other-sentinels')), Number(valueOf('num-slaves')))
  }

  #startRedis(index: number, primary?: Machine): Promise<void> {
    const replicaOf = primary ? `replicaof ${primary.host} ${primary.port}` : ''
    return this.#servers.start(index, `min-replicas-to-write ${this.#replicas}\n${replicaOf}`)
  }
}

function sentinelConf({ host, sentinelPort }: Machine, dir: string, options: GroupOptions): string {
  const { machines, password, tls, downAfterMs = 5000 } = options
  return `
bind ${host}
protected-mode no
${portSettings(sentinelPort, tls)}
dir ${dir}
sentinel monitor ${GROUP_NAME} ${machines[0].host} ${machines[0].port} ${Math.floor(machines.length / 2) + 1}
sentinel down-after-milliseconds ${GROUP_NAME} ${downAfterMs}
sentinel failover-timeout ${GROUP_NAME} 10000
sentinel parallel-syncs ${GROUP_NAME} 1
${password ? `requirepass ${password}\nsentinel auth-pass ${GROUP_NAME} ${password}` : ''}
`
}
