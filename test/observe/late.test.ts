import { expect, it } from 'vitest'
import { registry } from '../../src/observe/metrics.ts'
import { observations } from '../../src/observe/observations.ts'
import { noteNotStored, measureEventLoop } from '../../src/observe/trouble.ts'
import { english } from '../../src/texts/text.ts'

/** Returns the value of one metric sample. */
async function sample(name: string, metrics = registry.metrics()): Promise<number> {
  const line = (await metrics).split('\n').find((each) => each.startsWith(`waybridge_${name} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}

/** Returns how often the process was delayed by more than half a second. */
async function late(): Promise<number> {
  const metrics = registry.metrics()
  const all = await sample('event_loop_delay_seconds_count', metrics)
  return all - (await sample('event_loop_delay_seconds_bucket{le="0.5"}', metrics))
}

const observed = () => observations.current().find(({ code }) => code === 'event_loop_delay')

it('a long delay of the event loop is observed with its duration', async () => {
  measureEventLoop('gateway')
  await expect.poll(() => sample('event_loop_delay_seconds_count')).toBeGreaterThan(0)
  const before = await late()
  for (const until = performance.now() + 700; performance.now() < until; );
  await expect.poll(late).toBeGreaterThan(before)
  const seen = observed()
  expect(seen).toMatchObject({ subject: { process: 'gateway' }, evidence: [expect.stringMatching(/^\d+ ms$/)] })
  expect(Number(english(seen?.evidence[0] ?? '').split(' ')[0])).toBeGreaterThanOrEqual(500)
})

it('a gateway counts every frame that is not stored by its reason, with a finding', async () => {
  noteNotStored('memory')
  noteNotStored('fault')
  noteNotStored('memory')
  expect(await sample('not_stored_total{reason="memory"}')).toBe(2)
  const seen = observations.current().find(({ code }) => code === 'not_stored')
  expect(seen).toMatchObject({ count: 3, evidence: ['memory', 'fault'] })
})
