import { expect, it } from 'vitest'
import { Backpressure } from '../../../src/gateway/admit/backpressure.ts'
import { count } from '../../support/listen.ts'

function watched(highMark: number) {
  const pressure = new Backpressure({ highMark })
  const calls: string[] = []
  pressure.follow((isHigh) => void calls.push(isHigh ? 'high' : 'low'))
  return { pressure, calls }
}

it('backpressure counts 3,000 bytes for each frame in addition to its own bytes', () => {
  const { pressure, calls } = watched(4 * 3044)
  pressure.add(3 * 44, 3)
  expect(pressure.isHigh).toBe(false)
  pressure.add(44)
  expect(pressure.isHigh).toBe(true)
  pressure.add(-44, -1)
  expect([pressure.isHigh, calls]).toEqual([true, ['high']])
  pressure.add(-44, -1)
  expect([pressure.isHigh, calls]).toEqual([false, ['high', 'low']])
  pressure.add(-2 * 44, -2)
})

it('backpressure rises and falls with the bytes of the frames', () => {
  const { pressure, calls } = watched(10_000)
  pressure.add(7000)
  expect([pressure.isHigh, calls]).toEqual([true, ['high']])
  pressure.add(-7000, -1)
  expect([pressure.isHigh, calls]).toEqual([false, ['high', 'low']])
})

it('reports the bytes that wait to be stored as a metric', async () => {
  const { pressure } = watched(1e6)
  pressure.add(100, 7)
  expect(await count('in_flight_bytes')).toBe(100)
  pressure.add(-100, -7)
  expect(await count('in_flight_bytes')).toBe(0)
})
