import { expect, it, onTestFinished, vi } from 'vitest'
import { grouped } from '../../src/redis/grouped.ts'

function recorded(options: Parameters<typeof grouped>[1]) {
  const groups: number[][] = []
  const send = grouped(async (items: number[]) => {
    groups.push(items)
    return items
  }, options)
  return { groups, send }
}

it('a single item leaves at once, and items soon after it share the next call', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { groups, send } = recorded({ inFlight: 2, apartMs: 50 })
  expect(await send(1)).toBe(1)
  const answers = [send(2)]
  await new Promise(setImmediate)
  answers.push(send(3))
  await new Promise(setImmediate)
  answers.push(send(4))
  await vi.advanceTimersByTimeAsync(50)
  expect(await Promise.all(answers)).toEqual([2, 3, 4])
  expect(groups).toEqual([[1], [2, 3, 4]])
})

it('items with enough weight leave before the time between calls is over', async () => {
  const { groups, send } = recorded({ apartMs: 3_600_000, enough: 4 })
  await send(1)
  expect(await Promise.all([send(2, 3), send(3)])).toEqual([2, 3])
  expect(groups).toEqual([[1], [2, 3]])
})

it('items that arrive fast leave with a part of the weight, a quarter within a millisecond', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { groups, send } = recorded({ apartMs: 3_600_000, enough: 8 })
  await send(1)
  vi.advanceTimersByTime(1)
  expect(await send(2, 2)).toBe(2)
  vi.advanceTimersByTime(3)
  const slow = send(3, 5)
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  expect(groups).toEqual([[1], [2]])
  expect(await Promise.all([slow, send(4)])).toEqual([3, 4])
  expect(groups).toEqual([[1], [2], [3, 4]])
})

it('a group ends before its weight is too large, and the rest leaves in the next call', async () => {
  const { groups, send } = recorded({ maxWeight: 2 })
  await Promise.all([send(1), send(2), send(3), send(4, 5), send(5)])
  expect(groups).toEqual([[1, 2], [3], [4], [5]])
})
