import { expect, it } from 'vitest'
import { registry } from '../../src/observe/metrics.ts'
import { noteNotStored, watchEventLoop } from '../../src/observe/trouble.ts'
import { observations } from '../../src/observe/observations.ts'

/** The value of one sample of the metrics. */
async function sample(name: string): Promise<number> {
  const line = (await registry.metrics()).split('\n').find((each) => each.startsWith(`waybridge_${name} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}

const observed = () => observations.current().find(({ code }) => code === 'event_loop_delay')

it('observes that a process was too busy to react, and for how long', async () => {
  watchEventLoop('gateway')
  await expect.poll(() => sample('event_loop_delay_seconds_count')).toBeGreaterThan(0)
  const quick = await sample('event_loop_delay_seconds_bucket{le="0.5"}')
  const all = await sample('event_loop_delay_seconds_count')
  for (const until = performance.now() + 700; performance.now() < until; );
  await expect.poll(() => sample('event_loop_delay_seconds_count')).toBeGreaterThan(all)
  // The second that was looked at first may be the one before.
  await expect.poll(observed, { timeout: 30_000 }).toBeDefined()
  const seen = observed()
  expect(seen).toMatchObject({ subject: { process: 'gateway' }, evidence: [expect.stringMatching(/^\d+ ms$/)] })
  expect(Number(seen?.evidence[0].split(' ')[0])).toBeGreaterThanOrEqual(500)
  const late =
    (await sample('event_loop_delay_seconds_count')) - (await sample('event_loop_delay_seconds_bucket{le="0.5"}'))
  expect(late).toBeGreaterThan(all - quick)
})

it('counts every frame that is not stored by its reason, with a finding', async () => {
  noteNotStored('memory')
  noteNotStored('fault')
  noteNotStored('memory')
  expect(await sample('not_stored_total{reason="memory"}')).toBe(2)
  const seen = observations.current().find(({ code }) => code === 'not_stored')
  expect(seen).toMatchObject({ count: 3, evidence: ['memory', 'fault'] })
})
