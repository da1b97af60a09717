import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { keepRunning, restartDelay } from '../../src/process/keep-running.ts'

const logger = pino({ enabled: false })

it('keepRunning waits 0 ms before the first restart, then twice as long each time, up to 5 s', () => {
  expect([0, 1, 2, 3, 4, 5, 6, 100].map(restartDelay)).toEqual([0, 250, 500, 1000, 2000, 4000, 5000, 5000])
})

it('keepRunning waits between restarts of a program that ends at once', async () => {
  const starts: number[] = []
  const kept = keepRunning('brief', logger, () => {
    starts.push(performance.now())
    return Promise.resolve({ exited: Promise.resolve(), stop: () => Promise.resolve() })
  })
  onTestFinished(() => kept.stop())
  await expect.poll(() => starts.length, { timeout: 30_000 }).toBe(4)
  expect(starts[2] - starts[1]).toBeGreaterThan(240)
  expect(starts[3] - starts[2]).toBeGreaterThan(490)
})

it('keepRunning rejects with a mistake of the user at the first start, and does not retry', async () => {
  let starts = 0
  const kept = keepRunning('wrong', logger, () => (starts++, Promise.reject(new UserError('No.'))))
  await expect(kept.ready).rejects.toThrow('No.')
  await kept.stop()
  expect(starts).toBe(1)
})

it('keepRunning retries after a mistake of the user at a later start', async () => {
  let starts = 0
  const running = { exited: Promise.resolve(), stop: () => Promise.resolve() }
  const kept = keepRunning('later', logger, () =>
    starts++ === 1 ? Promise.reject(new UserError('Disk full.')) : Promise.resolve(running),
  )
  onTestFinished(() => kept.stop())
  await kept.ready
  await expect.poll(() => starts, { timeout: 30_000 }).toBe(3)
})

it('keepRunning stops while it waits for the next restart', async () => {
  const kept = keepRunning('never', logger, () => Promise.reject(new Error('not today')))
  await kept.stop()
  expect(kept.current()).toBe(undefined)
})

it('keepRunning stops a run that becomes ready while it is being stopped', async () => {
  const exited = Promise.withResolvers<void>()
  const run = { exited: exited.promise, stop: () => Promise.resolve(exited.resolve()) }
  const start = Promise.withResolvers<typeof run>()
  const kept = keepRunning('late', logger, () => start.promise)
  const stopped = kept.stop()
  start.resolve(run)
  await stopped
  expect(kept.current()).toBe(undefined)
})
