import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AggregatorRegistry } from 'prom-client'
import { inTurns } from '../async.ts'
import { UserError } from '../errors.ts'
import { type Kept, keepRunning, type Runnable } from './keep-running.ts'
import { ROLE_SETTINGS, type RoleSettings, type FromRole, type Metrics, type Ports, type ToRole } from './role.ts'

export type RoleName = 'gateway' | 'worker' | 'admin' | 'tracking'

/** What the processes of all roles have in common. */
export interface RoleProcessesOptions {
  readonly dataDir: string
  /** How many processes of each role. */
  readonly roles: Readonly<Partial<Record<RoleName, number>>>
  /** What Node runs for a role. */
  readonly command: (role: RoleName) => readonly string[]
  readonly logger: Logger
  /** Kills every process. */
  readonly cut: AbortSignal
  readonly redisUrl: () => string | null
  /** Called whenever a process becomes ready: `ports` may have changed. */
  readonly changed: () => void
  /** The open file that the processes print to; without it, stderr. */
  readonly output?: number
}

/** The processes of all roles. None runs before `start`. */
export class RoleProcesses {
  /** What listens where. A process that is started again takes the ports that it had. */
  readonly ports: Ports = {}
  readonly #options: RoleProcessesOptions
  readonly #kept: Partial<Record<RoleName, readonly Kept<RoleProcess>[]>> = {}
  readonly #inTurns = inTurns()
  #retired: Metrics = []

  constructor(options: RoleProcessesOptions) {
    this.#options = options
  }

  /** Resolves once each process of the role is ready; rejects with the UserError that prevents it. */
  async start(role: RoleName): Promise<void> {
    const { roles, logger } = this.#options
    const begun = Array.from({ length: roles[role] ?? 0 }, () =>
      keepRunning({ name: role, logger, start: (signal) => this.#startProcess(role, signal) }),
    )
    this.#kept[role] = begun
    await Promise.all(begun.map(({ ready }) => ready))
  }

  /** From now on no process is started again, and those that are starting are ended. */
  endRestarts(): void {
    for (const kept of Object.values(this.#kept).flat()) kept.endRestarts()
  }

  /** Ends each process of the role for good. */
  async stop(role: RoleName): Promise<void> {
    await Promise.all((this.#kept[role] ?? []).map((kept) => kept.stop()))
  }

  /** Ends each process; it is started again. */
  restart(): void {
    for (const process of this.#running()) void process.stop()
  }

  #running(): RoleProcess[] {
    return Object.values(this.#kept).flatMap((kept) => kept.flatMap((each) => each.current() ?? []))
  }

  async #startProcess(role: RoleName, signal: AbortSignal): Promise<RoleProcess> {
    const { dataDir, command, cut, redisUrl, changed, output = 2 } = this.#options
    const settings: RoleSettings = { dataDir, redisUrl: redisUrl(), ports: this.ports }
    // In a session of its own, so that Ctrl-C reaches only the supervisor.
    const child = spawn(process.execPath, [...command(role)], {
      env: { ...process.env, [ROLE_SETTINGS]: JSON.stringify(settings) },
      stdio: ['ignore', output, output, 'ipc'],
      detached: true,
      signal: cut,
      killSignal: 'SIGKILL',
    })
    const roleProcess = new RoleProcess(child, () => this.#collect())
    // Without the counters of a process that has ended, a sum would fall when it is started again.
    const retire = async () => void (this.#retired = await addCounters(this.#retired, roleProcess.latestMetrics))
    void roleProcess.exited.then(() => this.#inTurns(retire))
    Object.assign(this.ports, await roleProcess.whenReady(signal))
    changed()
    return roleProcess
  }

  async #collect(): Promise<Metrics[]> {
    return [this.#retired, ...(await Promise.all(this.#running().map((process) => process.metrics())))]
  }
}

/** The sum of two processes' counters and histograms, without the gauges of the second. */
export async function addCounters(sum: Metrics, metrics: Metrics): Promise<Metrics> {
  const lasting = metrics.filter(({ type }) => String(type) !== 'gauge')
  return AggregatorRegistry.aggregate([sum, lasting]).getMetricsAsJSON()
}

/** One process of a role. */
class RoleProcess implements Runnable {
  /** How it ended, in two words. */
  readonly exited: Promise<string>
  /** The last known metrics. */
  latestMetrics: Metrics = []
  readonly #child: ChildProcess
  readonly #ready = Promise.withResolvers<Ports>()
  #mistake: UserError | undefined
  #asked: PromiseWithResolvers<void> | undefined

  /** `collect` returns the metrics of all processes. */
  constructor(child: ChildProcess, collect: () => Promise<Metrics[]>) {
    this.#child = child
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`))
      child.once('error', (error) => resolve(error.message))
    })
    child.on('message', (message: FromRole) => {
      if (message.type === 'ready') this.#ready.resolve(message.ports)
      else if (message.type === 'failed') this.#mistake = new UserError(message.message)
      else if (message.type === 'metrics') {
        this.latestMetrics = message.metrics
        this.#asked?.resolve()
        this.#asked = undefined
      } else void collect().then((processes) => tell(child, { type: 'collected', processes }))
    })
  }

  /** Resolves with its ports; rejects if it ends before, with a UserError if the user has to act. */
  async whenReady(signal: AbortSignal): Promise<Ports> {
    const terminate = () => void this.#child.kill('SIGTERM')
    signal.addEventListener('abort', terminate)
    const ended = this.exited.then((end) => {
      throw this.#mistake ?? new Error(`it ended at its start: ${end}`)
    })
    try {
      return await Promise.race([this.#ready.promise, ended])
    } finally {
      signal.removeEventListener('abort', terminate)
    }
  }

  /** Its metrics; the last known ones if it does not answer within a second. A stopped process gets one request only. */
  async metrics(): Promise<Metrics> {
    if (!this.#asked) tell(this.#child, { type: 'ask_metrics' })
    this.#asked ??= Promise.withResolvers<void>()
    await Promise.race([this.#asked.promise, delay(METRICS_MS, undefined, { ref: false })])
    return this.latestMetrics
  }

  /** Closing the channel asks the process to end. A signal could count as the second one and cut its shutdown short. */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect()
    await this.exited
  }
}

/** A process that is about to end may have closed its channel already. */
function tell(child: ChildProcess, message: ToRole): void {
  if (child.connected) child.send(message, () => {})
}

const METRICS_MS = 1000
