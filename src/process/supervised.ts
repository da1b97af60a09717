import { setTimeout as delay } from 'node:timers/promises'
import { registry } from '../observe/metrics.ts'
import type { FromRole, ToRole } from './messages.ts'
import { metricsText } from './metrics-sum.ts'

const COLLECT_MS = 2500

/** Tells the supervisor, if there is one; resolves once it is on its way, or nobody is there to take it. */
export function tellSupervisor(message: FromRole): Promise<void> {
  return new Promise((resolve) => {
    if (process.send && process.connected) process.send(message, undefined, undefined, () => resolve())
    else resolve()
  })
}

/** Lets the supervisor ask for this process' metrics. */
export function answerForMetrics(): void {
  process.on('message', (message: ToRole) => {
    if (message.type !== 'ask_metrics') return
    void registry.getMetricsAsJSON().then((metrics) => tellSupervisor({ type: 'metrics', metrics }))
  })
}

/**
 * The text for Prometheus: under `start` of all its processes, added up, those that do not answer with their last known
 * figures; otherwise, or if the supervisor itself does not answer, of this process.
 */
export async function collectMetrics(): Promise<string> {
  if (!process.connected) return registry.metrics()
  const collected = Promise.withResolvers<string | undefined>()
  const listen = (message: ToRole) => {
    if (message.type === 'collected') collected.resolve(metricsText(message.processes))
  }
  process.on('message', listen)
  void tellSupervisor({ type: 'collect' })
  const text = await Promise.race([collected.promise, delay(COLLECT_MS, undefined, { ref: false })])
  process.off('message', listen)
  return text ?? registry.metrics()
}
