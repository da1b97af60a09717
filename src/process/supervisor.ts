import { setMaxListeners } from 'node:events'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inTurns } from '../async.ts'
import { explainError } from '../errors.ts'
import { type Kept, keepRunning } from './keep-running.ts'
import { lockDataDir } from './lock.ts'
import { type PrivateRedis, startPrivateRedis } from './redis.ts'
import type { Ports } from './role.ts'
import { RoleProcesses, type RoleProcessesOptions } from './role-processes.ts'

/** What to run. `redis`: the private one, with `maxMemory` in bytes (null: half of the machine's); null: none. */
export interface Supervision extends Pick<RoleProcessesOptions, 'dataDir' | 'roles' | 'command' | 'logger' | 'output'> {
  readonly redis: { readonly maxMemory: number | null } | null
}

/** Starts the private Redis and the roles, keeps them running, and writes to ports.json what listens where. */
export class Supervisor {
  /** What listens where, once everything is ready; rejects with the UserError that prevents it: then call `stop`. */
  readonly ready: Promise<Ports>
  readonly #supervision: Supervision
  readonly #portsFile: string
  readonly #cut = new AbortController()
  readonly #roles: RoleProcesses
  readonly #inTurns = inTurns()
  #state: 'starting' | 'ready' | 'stopping' = 'starting'
  #redis: Kept<PrivateRedis> | undefined
  #redisUrl: string | null = null
  #unlock: (() => void) | undefined

  constructor(supervision: Supervision) {
    this.#supervision = supervision
    this.#portsFile = join(supervision.dataDir, 'ports.json')
    setMaxListeners(0, this.#cut.signal)
    this.#roles = new RoleProcesses({
      ...supervision,
      cut: this.#cut.signal,
      redisUrl: () => this.#redisUrl,
      changed: () => void this.#publishPorts(),
    })
    this.ready = this.#start().catch((error) => Promise.reject(explainError(error)))
    this.ready.catch(() => {})
  }

  /** Ends everything in order, within 10 s or once `hurry` is aborted; returns whether no process had to be killed. */
  async stop(hurry?: AbortSignal): Promise<boolean> {
    this.#state = 'stopping'
    // A service manager may signal every process: what has ended, Redis included, must not come back.
    this.#redis?.endRestarts()
    this.#roles.endRestarts()
    const cut = () => this.#cut.abort()
    const limit = setTimeout(cut, ROLES_STOP_MS)
    if (hurry?.aborted) cut()
    hurry?.addEventListener('abort', cut)
    for (const role of STOPPING_ORDER) await this.#roles.stop(role)
    clearTimeout(limit)
    hurry?.removeEventListener('abort', cut)
    await this.#redis?.stop()
    if (this.#unlock) await this.#removePorts()
    this.#unlock?.()
    return !this.#cut.signal.aborted
  }

  async #start(): Promise<Ports> {
    const { dataDir, logger, redis } = this.#supervision
    this.#unlock = await lockDataDir(dataDir, logger)
    await this.#removePorts()
    if (redis && this.#state === 'starting') {
      this.#redis = keepRunning({ name: 'redis', logger, start: (signal) => this.#startRedis(signal) })
      await this.#redis.ready
    }
    for (const stage of STARTING_ORDER) {
      if (this.#state === 'starting') await Promise.all(stage.map((role) => this.#roles.start(role)))
    }
    if (this.#state === 'starting') this.#state = 'ready'
    await this.#publishPorts()
    return this.#roles.ports
  }

  /** Restarts the roles if Redis listens on another port than before, because another program took its port. */
  async #startRedis(signal: AbortSignal): Promise<PrivateRedis> {
    const { dataDir, redis } = this.#supervision
    const started = await startPrivateRedis({ dataDir, maxMemory: redis?.maxMemory, signal })
    const before = this.#redisUrl
    this.#redisUrl = started.url
    if (before !== null && before !== started.url) this.#roles.restart()
    return started
  }

  /** Replaces `<data_dir>/ports.json` in one step. */
  async #publishPorts(): Promise<void> {
    if (this.#state !== 'ready') return
    const write = async () => {
      await writeFile(`${this.#portsFile}.new`, `${JSON.stringify(this.#roles.ports)}\n`)
      await rename(`${this.#portsFile}.new`, this.#portsFile)
    }
    const { logger } = this.#supervision
    await this.#inTurns(write).catch((error: Error) =>
      logger.error({ reason: error.message }, 'cannot write ports.json'),
    )
  }

  async #removePorts(): Promise<void> {
    await this.#inTurns(() => rm(this.#portsFile, { force: true }))
  }
}

/**
 * The other roles need the port of the tracking service. The admin process writes to the roster what was edited in files
 * while nothing ran: so it is in effect from the first fix on.
 */
const STARTING_ORDER = [['tracking'], ['admin'], ['worker', 'gateway']] as const
const STOPPING_ORDER = ['gateway', 'worker', 'admin', 'tracking'] as const
const ROLES_STOP_MS = 8000
