import { AggregatorRegistry } from 'prom-client'
import { expect, it } from 'vitest'
import { metrics, registry } from '../../src/observe/metrics.ts'

const NAME = 'waybridge_ack_duration_seconds'

it('a histogram counts durations in cumulative buckets', async () => {
  expect(await registry.getSingleMetricAsString(NAME)).toContain(`${NAME}_bucket{le="0.001"} 0\n`)
  for (const seconds of [0.0005, 0.001, 0.02, 100]) metrics.ackDuration.observe(seconds)
  const text = await registry.getSingleMetricAsString(NAME)
  for (const line of [
    '_bucket{le="0.001"} 2',
    '_bucket{le="0.01"} 2',
    '_bucket{le="0.025"} 3',
    '_bucket{le="30"} 3',
    '_bucket{le="+Inf"} 4',
    '_sum 100.0215',
  ])
    expect(text).toContain(`${NAME}${line}\n`)
  expect(text).toContain(`${NAME}_count 4`)
})

it('a histogram sums up the durations of several processes', async () => {
  const one = await registry.getMetricsAsJSON()
  const text = await AggregatorRegistry.aggregate([one, one]).getSingleMetricAsString(NAME)
  expect(text).toContain(`${NAME}_bucket{le="0.025"} 6\n`)
  expect(text).toContain(`${NAME}_count 8`)
})
