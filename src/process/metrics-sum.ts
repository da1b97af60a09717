import { AggregatorRegistry } from 'prom-client'
import type { Metrics } from './messages.ts'

/** What processes that have ended counted: without it, a sum over the living would fall whenever one is started again. */
export interface RetiredMetrics {
  readonly metrics: Metrics
  add(metrics: Metrics): Promise<void>
}

/** Keeps counters and histograms; a gauge is of no process that has ended. */
export function retiredMetrics(): RetiredMetrics {
  let sum: Metrics = []
  return {
    get metrics() {
      return sum
    },
    async add(metrics) {
      const lasting = metrics.filter(({ type }) => String(type) !== 'gauge')
      sum = await AggregatorRegistry.aggregate([sum, lasting]).getMetricsAsJSON()
    },
  }
}

/** The text for Prometheus of several processes' metrics, added up. */
export function metricsText(processes: readonly Metrics[]): Promise<string> {
  return AggregatorRegistry.aggregate([...processes]).metrics()
}
