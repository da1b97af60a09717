import { spawn } from 'node:child_process'
import { setMaxListeners } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { inTurns, shared, within } from '../async.ts'
import { writeDurably } from '../durable.ts'
import { explainError } from '../errors.ts'
import { lockDataDir } from './data-dir.ts'
import { type ActivatedSocket, type Address, HeldSockets } from './held-sockets.ts'
import { type Kept, keepRunning } from './keep-running.ts'
import { fetchMissingRedis, type PrivateRedis, startPrivateRedis } from './redis.ts'
import {
  addCounters,
  type ForRoles,
  type Metrics,
  type Ports,
  RoleProcess,
  type RoleSettings,
  SUPERVISED,
} from './role-process.ts'

type RoleName = 'gateway' | 'worker' | 'admin' | 'tracking'

export interface Supervision {
  readonly dataDir: string
  /** The private Redis, with `maxMemory` in bytes (null: half of the machine's); null: none. */
  readonly redis: { readonly maxMemory: number | null } | null
  /** How many processes of each role. */
  readonly roles: Readonly<Partial<Record<RoleName, number>>>
  /** Returns Node's arguments for a role. */
  readonly command: (role: RoleName) => readonly string[]
  /** The gateway's listening addresses, held open while it restarts. */
  readonly held?: readonly Address[]
  /** The sockets that the service manager has opened. */
  readonly activated?: readonly ActivatedSocket[]
  /** Is called again and again while the private Redis loads its data. */
  readonly loading?: () => void
  readonly logger: Logger
  /** The open file that the roles print to; without it, stderr. */
  readonly output?: number
}

/** Starts the private Redis and the roles, keeps them running, and writes their ports to ports.json. */
export class Supervisor {
  /** Resolves to the ports once everything is ready; rejects with the UserError that prevents it: then call `stop`. */
  readonly ready: Promise<Ports>
  readonly #supervision: Supervision
  readonly #portsFile: string
  readonly #cut = new AbortController()
  /** A restarted process takes its earlier ports. */
  readonly #ports: Ports = {}
  readonly #roles: Partial<Record<RoleName, readonly Kept<RoleProcess>[]>> = {}
  readonly #inTurns = inTurns()
  readonly #compared = Promise.withResolvers<void>()
  /** Resolves once the tracking service is ready. */
  #tracking: Promise<void> = Promise.resolve()
  #state: 'starting' | 'ready' | 'stopping' = 'starting'
  #redis: Kept<PrivateRedis> | undefined
  #redisUrl: string | null = null
  /** The text of gateway.yaml that is in effect. */
  #settings = ''
  #unlock: (() => void) | undefined
  #held: HeldSockets | undefined
  /** The counters of processes that have ended. */
  #retired: Metrics = []
  readonly #forRoles: ForRoles = {
    // Computed once for all that ask at the same time.
    collect: shared(0, async () => [
      this.#retired,
      ...(await Promise.all(this.#running().map((process) => process.metrics()))),
    ]),
    compared: async () => {
      this.#compared.resolve()
      await this.#tracking
      return this.#ports
    },
    settings: (text) => void (this.#settings = text),
  }

  constructor(supervision: Supervision) {
    this.#supervision = supervision
    this.#portsFile = join(supervision.dataDir, 'ports.json')
    setMaxListeners(0, this.#cut.signal)
    this.ready = this.#start().catch((error) => Promise.reject(explainError(error)))
    this.ready.catch(() => {})
  }

  /** Ends everything in order, within 10 s or once `hurry` is aborted; returns whether no process had to be killed. */
  async stop(hurry?: AbortSignal): Promise<boolean> {
    this.#state = 'stopping'
    // A service manager may signal every process: those that have ended, Redis included, must not be restarted.
    for (const kept of [this.#redis, ...Object.values(this.#roles).flat()]) kept?.endRestarts()
    const cut = () => this.#cut.abort()
    const limit = setTimeout(cut, ROLES_STOP_MS)
    if (hurry?.aborted) cut()
    hurry?.addEventListener('abort', cut)
    // The admin process ends first, because the end of other roles would begin findings; devices are served until the last.
    const others = this.#stopRole('admin').then(() => this.#stopRole('worker'))
    await within(DEVICES_MS, others)
    this.#held?.close()
    await Promise.all([this.#stopRole('gateway'), others.then(() => this.#stopRole('tracking'))])
    clearTimeout(limit)
    hurry?.removeEventListener('abort', cut)
    await this.#redis?.stop()
    if (this.#unlock) await this.#removePorts()
    this.#unlock?.()
    return !this.#cut.signal.aborted
  }

  async #stopRole(role: RoleName): Promise<void> {
    await Promise.all((this.#roles[role] ?? []).map((kept) => kept.stop()))
  }

  /** Resolves to whether each ready process answers within this time; one that has ended is restarted anyway. */
  async answers(withinMs: number): Promise<boolean> {
    const answers = await Promise.all(this.#running().map((process) => process.answers(withinMs)))
    return answers.every(Boolean)
  }

  async #start(): Promise<Ports> {
    const { dataDir, logger } = this.#supervision
    // No other user reads what this process, Redis and the roles write.
    process.umask(0o077)
    this.#unlock = await lockDataDir(dataDir, logger)
    const redis = this.#removePorts().then(() => this.#startRedis())
    const admin = this.#startRole('admin', redis)
    const compared = Promise.race([admin, this.#compared.promise])
    // Changes of files while nothing ran take effect before the first fix.
    const gateway = this.#startRole('gateway', Promise.all([redis, compared]))
    // Devices wait for the processes above: these begin to load only now.
    this.#tracking = gateway.then(() => this.#startRole('tracking', gateway))
    const worker = gateway.then(() => this.#startRole('worker', this.#tracking))
    await Promise.all([redis, admin, gateway, this.#tracking, worker])
    if (this.#state === 'starting') this.#state = 'ready'
    await this.#publishPorts()
    return this.#ports
  }

  async #startRedis(): Promise<void> {
    const { dataDir, logger, redis, loading } = this.#supervision
    if (!redis) return
    await fetchMissingRedis(dataDir, logger)
    if (this.#state !== 'starting') return
    this.#redis = keepRunning('redis', logger, async (signal) => {
      const started = await startPrivateRedis(dataDir, redis.maxMemory, { signal, loading, logger })
      this.#redisUrl = started.url
      return started
    })
    await this.#redis.ready
  }

  /**
   * Starts the processes of a role, which load their code and begin in their turn. Resolves once each is ready; rejects with
   * the UserError that prevents it.
   */
  async #startRole(role: RoleName, turn: Promise<unknown>): Promise<void> {
    const { roles, logger, held = [], activated } = this.#supervision
    if (role === 'gateway') this.#held = new HeldSockets(held, activated)
    const { [role]: count = 0 } = roles
    const begun: Kept<RoleProcess>[] = []
    this.#roles[role] = begun
    for (let slot = 0; slot < count && this.#state === 'starting'; slot++) {
      const startsAt: number[] = []
      const start = (signal: AbortSignal) => {
        startsAt.push(Date.now())
        return this.#startProcess(role, { ...restartsOf(startsAt), slot, count }, { turn, signal })
      }
      begun.push(keepRunning(role, logger, start))
      // The other gateways share the ports that the first one has opened.
      if (role === 'gateway' && slot === 0) await begun[0].ready
    }
    await Promise.all([turn, ...begun.map(({ ready }) => ready)])
  }

  async #startProcess(
    role: RoleName,
    identity: RoleSettings['identity'],
    { turn, signal }: { readonly turn: Promise<unknown>; readonly signal: AbortSignal },
  ): Promise<RoleProcess> {
    const { dataDir, command, output = 2 } = this.#supervision
    const stdio = ['pipe', output, output, 'ipc'] as const
    const held = role === 'gateway' ? this.#held?.inherited(stdio.length) : undefined
    // In its own session, so that Ctrl-C reaches only the supervisor.
    const child = spawn(process.execPath, [...command(role)], {
      env: { ...process.env, [SUPERVISED]: '1' },
      stdio: [...stdio, ...(held?.stdio ?? [])],
      detached: true,
      signal: this.#cut.signal,
      killSignal: 'SIGKILL',
    })
    child.stdin?.on('error', () => {}).end(this.#settings)
    const started = new RoleProcess(child, this.#forRoles)
    // Without the counters of an ended process, a sum would fall when it restarts.
    const retire = async () => void (this.#retired = await addCounters(this.#retired, started.latestMetrics))
    void started.exited.then(() => this.#state !== 'stopping' && this.#inTurns(retire))
    const begin = () =>
      started.begin({ dataDir, redisUrl: this.#redisUrl, ports: this.#ports, identity, sockets: held?.files })
    turn.then(begin, () => {})
    Object.assign(this.#ports, await started.whenReady(signal))
    void this.#publishPorts()
    return started
  }

  #running(): RoleProcess[] {
    return Object.values(this.#roles).flatMap((kept) => kept.flatMap((each) => each.current() ?? []))
  }

  /** Replaces `<data_dir>/ports.json` in one step. */
  async #publishPorts(): Promise<void> {
    if (this.#state !== 'ready') return
    const { logger } = this.#supervision
    await this.#inTurns(async () => {
      await writeDurably(this.#portsFile, `${JSON.stringify(this.#ports)}\n`)
    }).catch((error: Error) => logger.error({ reason: error.message }, 'cannot write ports.json'))
  }

  async #removePorts(): Promise<void> {
    await this.#inTurns(() => rm(this.#portsFile, { force: true }))
  }
}

function restartsOf(startsAt: readonly number[]) {
  const restartsAt = startsAt.slice(1).filter((at) => at > Date.now() - RESTARTS_MS)
  return { restarts: startsAt.length - 1, restartsAt }
}

/** Restarts that are older than this are not reported. */
const RESTARTS_MS = 600_000

/** For how long devices are served while the admin process and workers end. */
const DEVICES_MS = 1000
const ROLES_STOP_MS = 8000
