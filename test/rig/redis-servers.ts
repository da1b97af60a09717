import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { spawnTethered, type Tethered } from '../../src/process/redis.ts'
import { findRedisServer } from '../../src/process/setup/redis-server.mjs'
import type { Issued } from '../support/certificates.ts'
import { pidsIn, signal, untilSo } from '../support/processes.ts'

/** One machine of several: a Redis, and a Sentinel or the bus of a cluster. */
export interface Machine {
  readonly host: string
  readonly port: number
  /** In a cluster, of its bus. */
  readonly sentinelPort: number
  /** The command that runs others on this machine; left out: none. */
  readonly within?: readonly string[]
  /** What its Redis has in its environment beside that of this process. */
  readonly env?: NodeJS.ProcessEnv
}

export interface ServersOptions {
  readonly machines: readonly Machine[]
  /** Of all servers; left out: none. */
  readonly password?: string
  /** Between all, and to them: signed by itself, for 127.0.0.1. */
  readonly tls?: Issued
}

/**
 * Real Redis servers of which one is the primary, each with AOF and fsync always in a folder of its own. They end with this process
 * at the latest.
 */
export abstract class RedisServers {
  readonly dir: string
  readonly machines: readonly Machine[]
  readonly #password: string | undefined
  readonly #tls: Issued | undefined
  readonly #redis: Tethered[] = []
  readonly #others: Tethered[] = []

  protected constructor(dir: string, { machines, password, tls }: ServersOptions) {
    this.dir = dir
    this.machines = machines
    this.#password = password
    this.#tls = tls
  }

  /** Makes a folder with one for the Redis of each machine. */
  static async makeDir(machines: readonly Machine[]): Promise<string> {
    const dir = await mkdtemp(join(tmpdir(), 'waybridge-group-'))
    for (const index of machines.keys()) await mkdir(join(dir, `redis-${index}`))
    return dir
  }

  /** The machine with the primary. Rejects if nobody says which one has it. */
  abstract primary(): Promise<number>

  protected abstract isInStep(): Promise<boolean>

  /** Resolves once all replicas are in step with the primary, and all know each other. */
  async inStep(patienceMs = 60_000): Promise<void> {
    const isInStep = await untilSo(() => this.isInStep(), { withinMs: patienceMs, everyMs: 100 })
    if (!isInStep) throw new Error('the replicas are not in step')
  }

  /** Resolves once another machine has the primary. */
  protected async hasLeft(before: number, withinMs = 60_000): Promise<void> {
    const hasLeft = await untilSo(async () => (await this.primary()) !== before, { withinMs, everyMs: 100 })
    if (!hasLeft) throw new Error('the primary is still the same')
  }

  /** Resolves once another machine has the primary by a command, which slow servers refuse for a moment, or give up later. */
  protected async leave(before: number, ask: () => Promise<unknown>): Promise<void> {
    const hasLeft = async () => {
      if ((await this.primary()) === before) await ask()
      await this.hasLeft(before, 20_000)
      return true
    }
    if (!(await untilSo(hasLeft, { withinMs: 60_000 }))) throw new Error('the primary does not move')
  }

  /** Whether so many replicas of a machine are in step. */
  protected async hasReplicas(index: number, count: number): Promise<boolean> {
    const info = await this.redis(index, (redis) => redis.info('replication'))
    return (info.match(/^slave\d+:.*state=online/gm) ?? []).length === count
  }

  /** Starts the Redis of a machine; `settings`: what its redis.conf says beside what all have. */
  protected async startServer(index: number, settings: string): Promise<void> {
    const file = join(this.dir, `redis-${index}.conf`)
    const { host, port } = this.machines[index]
    const password = this.#password ? `requirepass ${this.#password}\nmasterauth ${this.#password}` : ''
    await writeFile(
      file,
      `bind ${host}\n${portSettings(port, this.#tls)}\ndir ${this.dirOf(index)}\n${password}\n${FOR_ALL}\n${settings}\n`,
    )
    this.#redis[index] = this.#spawn(index, [file], this.machines[index].env)
  }

  /** Starts a Sentinel on a machine. */
  protected startSentinel(index: number, file: string): void {
    this.#others.push(this.#spawn(index, [file, '--sentinel']))
  }

  /** Kills the Redis of a machine for good: nothing of its data remains, nor who it was. */
  async destroy(index: number): Promise<void> {
    await this.kill(index)
    await rm(this.dirOf(index), { recursive: true })
    await mkdir(this.dirOf(index))
  }

  /** Kills the Redis of a machine; its data remain. */
  async kill(index: number): Promise<void> {
    this.signal(index, 'SIGKILL')
    await this.#redis[index].exited
  }

  /** Stops or continues the Redis of a machine. */
  signal(index: number, name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
    for (const pid of pidsIn(this.dirOf(index))) signal(pid, name)
  }

  /** Runs commands on the Redis of a machine, or on its Sentinel. */
  async redis<Result>(
    index: number,
    work: (redis: Redis) => Promise<Result>,
    port: 'port' | 'sentinelPort' = 'port',
  ): Promise<Result> {
    const { host, ...machine } = this.machines[index]
    const timeouts = { connectTimeout: 1000, commandTimeout: 1000 }
    const access = { host, port: machine[port], password: this.#password, tls: this.#tls && { ca: this.#tls.cert } }
    const redis = new Redis({ ...access, lazyConnect: true, retryStrategy: null, ...timeouts })
    redis.on('error', () => {})
    try {
      await redis.connect()
      return await work(redis)
    } finally {
      redis.disconnect()
    }
  }

  dirOf(index: number): string {
    return join(this.dir, `redis-${index}`)
  }

  async stop({ keep = false } = {}): Promise<void> {
    await Promise.all([...this.#redis, ...this.#others].map((process) => process.end(2000)))
    if (!keep) await rm(this.dir, { recursive: true, force: true })
  }

  #spawn(index: number, args: readonly string[], own: NodeJS.ProcessEnv = {}): Tethered {
    const server = findRedisServer()
    if (!server) throw new Error('there is no redis-server')
    const { within = [] } = this.machines[index]
    const env = { ...process.env, ...server.env, ...own, TETHER_GRACE_S: '2' }
    return spawnTethered([...within, server.command, ...args], { env, log: join(this.dir, `${index}.log`) })
  }
}

/** What a redis.conf or the file of a Sentinel says of its port. */
export function portSettings(port: number, tls: Issued | undefined): string {
  if (!tls) return `port ${port}`
  const { cert, key } = tls.files
  const files = `tls-cert-file ${cert}\ntls-key-file ${key}\ntls-ca-cert-file ${cert}`
  return `port 0\ntls-port ${port}\n${files}\ntls-auth-clients no\ntls-replication yes`
}

/** The machine that most name; -1 does not count. Throws if nobody names one. */
export function mostNamed(said: readonly number[]): number {
  const votes = Map.groupBy(
    said.filter((index) => index >= 0),
    (index) => index,
  )
  const [most] = [...votes].toSorted(([, a], [, b]) => b.length - a.length)
  if (!most) throw new Error('nobody names the primary')
  return most[0]
}

const FOR_ALL = `
protected-mode no
appendonly yes
appendfsync always
save ""
maxmemory 256mb
maxmemory-policy noeviction
repl-diskless-sync yes
repl-diskless-sync-delay 0
`
