import { expect, it, onTestFinished, vi } from 'vitest'
import { everySecond, shared } from '../src/async.ts'

/** Returns a task that ends on request, and counts its runs. */
function held() {
  const runs: PromiseWithResolvers<number>[] = []
  const task = () => {
    const run = Promise.withResolvers<number>()
    runs.push(run)
    return run.promise
  }
  return { runs, task }
}

it('shared runs a task once for all callers while it runs, and while its result is recent enough', async () => {
  const { runs, task } = held()
  const ask = shared(60_000, task)
  const asked = [ask(), ask()]
  runs[0].resolve(1)
  expect(await Promise.all([...asked, ask()])).toEqual([1, 1, 1])
  expect(runs).toHaveLength(1)
})

it('shared runs a task again if its result is too old, and at once after a failure', async () => {
  const { runs, task } = held()
  const ask = shared(0, task)
  const first = ask()
  runs[0].reject(new Error('no'))
  await expect(first).rejects.toThrow('no')
  const second = ask()
  runs[1].resolve(2)
  expect(await second).toBe(2)
  await expect.poll(() => (void ask(), runs.length)).toBe(3)
})

function fail(): never {
  throw new Error('no')
}

it('everySecond runs jobs at once and then each second, except unfinished ones, and stop waits for their end', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { runs, task } = held()
  let quick = 0
  const beat = everySecond({ slow: task, quick: () => quick++ })
  await vi.advanceTimersByTimeAsync(3000)
  expect([runs.length, quick]).toEqual([1, 4])
  runs[0].resolve(1)
  await vi.advanceTimersByTimeAsync(1000)
  expect([runs.length, quick]).toEqual([2, 5])
  let isStopped = false
  const stopped = beat.stop().then(() => (isStopped = true))
  await vi.advanceTimersByTimeAsync(1000)
  expect([isStopped, quick]).toEqual([false, 5])
  runs[1].resolve(2)
  await stopped
})

it('everySecond runs a job again that has failed, beside the others, and reports its name', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const faults: string[] = []
  let others = 0
  const jobs = { throws: fail, rejects: async () => fail(), other: () => others++ }
  const beat = everySecond(jobs, (error, job) => faults.push(`${job}: ${(error as Error).message}`))
  await vi.advanceTimersByTimeAsync(1000)
  await beat.stop()
  expect(faults.toSorted()).toEqual(['rejects: no', 'rejects: no', 'throws: no', 'throws: no'])
  expect(others).toBe(2)
})
