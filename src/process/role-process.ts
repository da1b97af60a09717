import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import { ConfigError, type Problem } from '../config/problem.ts'
import { UserError } from '../errors.ts'
import type { ProcessIdentity } from '../store/index.ts'
import type { SocketFiles } from './held-sockets.ts'
import type { Runnable } from './keep-running.ts'

/** The listeners of a process (`tcp/teltonika`, `mqtt`, `admin` …), and their ports. */
export type Ports = Record<string, number>

/** The metrics of one process, as `registry.getMetricsAsJSON()` returns them. */
export type Metrics = MetricObjectWithValues<MetricValue<string>>[]

/** What a role gets at its start. */
export interface RoleContext {
  /** The private Redis; null: use the one in the configuration. */
  readonly redisUrl: string | null
  /** The ports of this `start`; a role that may choose a port takes the one that it has here. */
  readonly ports: Ports
  /** The number of the process in its role, and how often it was started again; empty if the role runs on its own. */
  readonly identity?: RoleIdentity
  readonly sockets?: SocketFiles
}

/** `count`: how many processes of the role there are. */
type RoleIdentity = Pick<ProcessIdentity, 'slot' | 'restarts' | 'restartsAt'> & { readonly count: number }

export interface RoleSettings extends RoleContext {
  readonly dataDir: string
}

/**
 * Messages from a role's process to its supervisor. `compared`: see `ForRoles`. `failed`, in place of `ready`: a sentence
 * that tells the user what to change, or the mistakes in the configuration. `settings`: the text of gateway.yaml that is in effect.
 */
export type FromRole =
  | { readonly type: 'compared' }
  | { readonly type: 'settings'; readonly text: string }
  | { readonly type: 'ready'; readonly ports: Ports }
  | { readonly type: 'failed'; readonly message: string; readonly mistakes?: readonly Problem[] }
  | { readonly type: 'metrics'; readonly metrics: Metrics }
  | { readonly type: 'collect' }

/** `begin`: its turn has come. `ports` answers `compared`. */
export type ToRole =
  | { readonly type: 'begin'; readonly settings: RoleSettings }
  | { readonly type: 'ports'; readonly ports: Ports }
  | { readonly type: 'ask_metrics' }
  | { readonly type: 'collected'; readonly processes: Metrics[] }

/** The environment variable of a process that a supervisor runs: it loads its code, and waits for `begin`. */
export const SUPERVISED = 'WAYBRIDGE_SUPERVISED'

/** What a supervisor does for its roles. */
export interface ForRoles {
  /** Returns the metrics of all processes. */
  collect(): Promise<Metrics[]>
  /** The files are written to the roster: lets gateways begin. Resolves with all ports once the tracking service is ready. */
  compared(): Promise<Ports>
  /** Notes the text of gateway.yaml that is in effect: a process that is started again uses it if the file has mistakes by then. */
  settings(text: string): void
}

export class RoleProcess implements Runnable {
  /** How the process ended, in two words. */
  readonly exited: Promise<string>
  /** The last known metrics. */
  latestMetrics: Metrics = []
  readonly #child: ChildProcess
  readonly #ready = Promise.withResolvers<Ports>()
  #mistake: UserError | ConfigError | undefined
  #asked: PromiseWithResolvers<void> | undefined

  constructor(child: ChildProcess, { collect, compared, settings }: ForRoles) {
    this.#child = child
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`))
      child.once('error', (error) => resolve(error.message))
    })
    child.on('message', (message: FromRole) => {
      if (message.type === 'ready') this.#ready.resolve(message.ports)
      else if (message.type === 'compared')
        compared().then(
          (ports) => tell(child, { type: 'ports', ports }),
          () => {},
        )
      else if (message.type === 'settings') settings(message.text)
      else if (message.type === 'failed')
        this.#mistake = message.mistakes ? new ConfigError(message.mistakes) : new UserError(message.message)
      else if (message.type === 'metrics') {
        this.latestMetrics = message.metrics
        this.#asked?.resolve()
        this.#asked = undefined
      } else void collect().then((processes) => tell(child, { type: 'collected', processes }))
    })
  }

  /** Starts it. */
  begin(settings: RoleSettings): void {
    tell(this.#child, { type: 'begin', settings })
  }

  /** Resolves with its ports; rejects if it ends before, with a UserError or ConfigError if the user has to act. */
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

  /** Its metrics; the last known ones if it does not answer within a second. */
  async metrics(): Promise<Metrics> {
    await this.answers(METRICS_MS)
    return this.latestMetrics
  }

  /** Resolves to whether the process sends its metrics within this time. It is asked again only after it has answered. */
  answers(withinMs: number): Promise<boolean> {
    if (!this.#asked) tell(this.#child, { type: 'ask_metrics' })
    this.#asked ??= Promise.withResolvers<void>()
    const answered = this.#asked.promise.then(() => true)
    return Promise.race([answered, delay(withinMs, false, { ref: false })])
  }

  /** Closing the channel asks the process to end. A signal could count as the second one and cut its shutdown short. */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect()
    await this.exited
  }
}

/** The sum of two processes' counters and histograms, without the gauges of the second. */
export async function addCounters(sum: Metrics, metrics: Metrics): Promise<Metrics> {
  const lasting = metrics.filter(({ type }) => String(type) !== 'gauge')
  const { AggregatorRegistry } = await import('prom-client')
  return AggregatorRegistry.aggregate([sum, lasting]).getMetricsAsJSON()
}

/** A process that is about to end may have closed its channel already. */
function tell(child: ChildProcess, message: ToRole): void {
  if (child.connected) child.send(message, () => {})
}

const METRICS_MS = 1000
