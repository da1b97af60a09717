import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { AggregatorRegistry } from 'prom-client'
import { UserError } from '../errors.ts'
import type { Runnable } from './keep-running.ts'
import type { FromRole, Metrics, Ports, ToRole } from './role.ts'

export class RoleProcess implements Runnable {
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

  /** Its metrics; the last known ones if it does not answer within a second. */
  async metrics(): Promise<Metrics> {
    await this.answers(METRICS_MS)
    return this.latestMetrics
  }

  /** Whether the process sends its metrics within this time. Until it has answered, it is not asked again. */
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
  return AggregatorRegistry.aggregate([sum, lasting]).getMetricsAsJSON()
}

/** A process that is about to end may have closed its channel already. */
function tell(child: ChildProcess, message: ToRole): void {
  if (child.connected) child.send(message, () => {})
}

const METRICS_MS = 1000
