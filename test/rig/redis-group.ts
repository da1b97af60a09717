import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { untilSo } from '../support/processes.ts'
import { type Machine, mostNamed, portSettings, RedisServers, type ServersOptions } from './redis-servers.ts'

/** What the Sentinels call the primary. */
export const GROUP_NAME = 'waybridge'

interface GroupOptions extends ServersOptions {
  /** How many replicas must have a write; left out: all machines but one. */
  readonly replicas?: number
  /** After which a Sentinel takes the primary for lost. */
  readonly downAfterMs?: number
}

/** A real primary with replicas and Sentinels. */
export class RedisGroup extends RedisServers {
  readonly #options: GroupOptions

  private constructor(dir: string, options: GroupOptions) {
    super(dir, options)
    this.#options = options
  }

  /** The first machine has the primary. Resolves once all replicas are in step and the Sentinels know each other. */
  static async start(options: GroupOptions): Promise<RedisGroup> {
    const group = new RedisGroup(await RedisServers.makeDir(options.machines), options)
    for (const [index, machine] of options.machines.entries()) {
      const dir = join(group.dir, `sentinel-${index}`)
      await mkdir(dir)
      await writeFile(`${dir}.conf`, sentinelConf(machine, dir, options))
      await group.#startRedis(index, index === 0 ? undefined : options.machines[0])
    }
    // A Sentinel asks the primary for its replicas at its start, and every ten seconds.
    await untilSo(() => group.hasReplicas(0, options.machines.length - 1))
    for (const index of options.machines.keys()) group.startSentinel(index, join(group.dir, `sentinel-${index}.conf`))
    await group.inStep()
    return group
  }

  /** For gateway.yaml. */
  get settings(): string {
    const sentinels = this.machines.map(({ host, sentinelPort }) => `"${host}:${sentinelPort}"`)
    return `{ sentinels: [${sentinels.join(', ')}], name: ${GROUP_NAME}, replicas: ${this.#replicas} }`
  }

  get #replicas(): number {
    return this.#options.replicas ?? this.machines.length - 1
  }

  /** The machine whose Redis most Sentinels take for the primary. Rejects if none answers. */
  async primary(): Promise<number> {
    return mostNamed(await Promise.all(this.machines.map((_, index) => this.#askSentinel(index).catch(() => -1))))
  }

  /** A machine with a replica. */
  async replica(pick = 0): Promise<number> {
    const { length } = this.machines
    return ((await this.primary()) + 1 + (pick % (length - 1))) % length
  }

  /**
   * Starts the Redis of a machine again, as a replica of the primary that the Sentinels name: one with an empty folder that
   * took itself for the primary would empty all others. Waits until they name another machine.
   */
  async revive(index: number): Promise<void> {
    await this.hasLeft(index)
    await this.#startRedis(index, this.machines[await this.primary()])
  }

  /** Has the Sentinels make another machine the primary though this one is well; resolves once they name it. */
  async failOver(): Promise<void> {
    await this.leave(await this.primary(), () =>
      this.redis(0, (sentinel) => sentinel.call('SENTINEL', 'FAILOVER', GROUP_NAME), 'sentinelPort'),
    )
  }

  /** Every Sentinel names the same primary and knows all others. */
  protected async isInStep(): Promise<boolean> {
    const { machines } = this
    const primary = await this.primary()
    const named = await Promise.all(machines.map((_, index) => this.#askSentinel(index)))
    const known = await Promise.all(machines.map((_, index) => this.#knownOthers(index)))
    if (named.some((index) => index !== primary) || known.some((count) => count < machines.length - 1)) return false
    return this.hasReplicas(primary, machines.length - 1)
  }

  async #askSentinel(index: number): Promise<number> {
    const answer = await this.redis(
      index,
      (sentinel) => sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', GROUP_NAME),
      'sentinelPort',
    )
    const [host, port] = answer as [string, string]
    return this.machines.findIndex((each) => each.host === host && each.port === Number(port))
  }

  /** How many Sentinels and replicas a Sentinel knows: the lesser number; none while it makes another machine the primary. */
  async #knownOthers(index: number): Promise<number> {
    const fields = (await this.redis(
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
    return this.startServer(index, `min-replicas-to-write ${this.#replicas}\n${replicaOf}`)
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
