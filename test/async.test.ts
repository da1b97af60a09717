import { expect, it } from 'vitest'
import { shared } from '../src/async.ts'

/** A task that ends when told to, and counts how often it ran. */
function held() {
  const runs: PromiseWithResolvers<number>[] = []
  const task = () => {
    const run = Promise.withResolvers<number>()
    runs.push(run)
    return run.promise
  }
  return { runs, task }
}

it('runs a shared task once for all who ask while it runs, and while its result is new enough', async () => {
  const { runs, task } = held()
  const ask = shared(60_000, task)
  const asked = [ask(), ask()]
  runs[0].resolve(1)
  expect(await Promise.all([...asked, ask()])).toEqual([1, 1, 1])
  expect(runs).toHaveLength(1)
})

it('runs a shared task again once its result is too old, and at once after a failure', async () => {
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
