import { pino } from 'pino'
import { expect, it, onTestFinished, vi } from 'vitest'
import { guarded, logFault } from '../../src/observe/faults.ts'

/** Returns an error with the same place in the code each time. */
const fault = (text: string) => new TypeError(text)

function logging() {
  const logger = pino({ level: 'silent' })
  return { logger, logged: vi.spyOn(logger, 'error') }
}

it('a fault that occurs again is logged once in ten minutes, whatever its message says', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { logger, logged } = logging()
  for (let n = 0; n < 1000; n++) logFault(logger, fault(`frame ${n}`), { what: 'fault in a test', protocol: 'talk' })
  expect(logged.mock.calls).toEqual([[{ err: fault('frame 0'), protocol: 'talk' }, 'fault in a test']])
  vi.advanceTimersByTime(601_000)
  logFault(logger, fault('again'), { what: 'fault in a test' })
  expect(logged).toHaveBeenCalledTimes(2)
})

it('faults at more than 100 places are not logged, and a thrown value need not be an error', () => {
  const { logger, logged } = logging()
  for (let n = 0; n < 1000; n++) logFault(logger, null, { what: `fault ${n}` })
  expect(logged).toHaveBeenCalledTimes(100)
})

it.each([
  ['rejects with', () => Promise.reject(fault('later'))],
  [
    'throws',
    () => {
      throw fault('at once')
    },
  ],
])('an error that unawaited work %s is passed to its guard', async (_, work) => {
  const onFault = vi.fn<(error: unknown) => void>()
  guarded(work, onFault)
  await expect.poll(() => onFault.mock.calls).toEqual([[expect.any(TypeError)]])
})
