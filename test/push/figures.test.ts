import { expect, it } from 'vitest'
import { registry } from '../../src/observe/metrics.ts'
import { PushStatistics } from '../../src/push/figures.ts'
import { packDevice, packRecords } from '../../src/store/index.ts'
import type { ApiAnswer } from '../../src/tracking/answer.ts'

const statistics = new PushStatistics()

/** Two positions that were received ten seconds ago. */
function twoRecords(): Buffer {
  const position = { timestamp: Math.floor(Date.now() / 1000), latitude: 52.5, longitude: 13.4, accuracy: 5 }
  return packRecords([position, position], packDevice('1'), Date.now() - 10_000)
}

function push(answer: ApiAnswer): void {
  statistics.ended(statistics.began('7/42/1001'), { answer, records: twoRecords(), count: 2 })
}

/** Returns the value of a metric, summed over its labels. */
async function sumOf(name: string): Promise<number> {
  const lines = (await registry.metrics()).split('\n').filter((line) => new RegExp(`^waybridge_${name}[ {]`).test(line))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

it('an accepted push counts its positions as delivered, and how long they waited', async () => {
  const [delivered, waited] = [await sumOf('fixes_delivered_total'), await sumOf('delivery_delay_seconds_sum')]
  push({ status: 201, text: '' })
  expect(await sumOf('fixes_delivered_total')).toBe(delivered + 2)
  expect(await sumOf('delivery_delay_seconds_sum')).toBeCloseTo(waited + 10, 0)
  expect(Object.keys(statistics.figures().acceptedAt)).toEqual(['7'])
})

it('a push that is not accepted counts as a request, but delivers nothing', async () => {
  const [delivered, requests] = [await sumOf('fixes_delivered_total'), await sumOf('push_requests_total')]
  for (const answer of [{ status: 422, text: 'why' }, { fault: 'timeout' as const }, { notTheApi: { status: 200 } }])
    push(answer)
  expect(await sumOf('fixes_delivered_total')).toBe(delivered)
  expect(await sumOf('push_requests_total')).toBe(requests + 3)
  expect(statistics.figures().lastError).toMatchObject({ code: 'not_the_api', status: 200 })
})
