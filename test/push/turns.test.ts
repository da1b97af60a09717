import pLimit from 'p-limit'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLogger } from '../../src/observe/log.ts'
import { observations } from '../../src/observe/observations.ts'
import type { PushApi } from '../../src/push/apis.ts'
import type { PushFigures } from '../../src/push/figures.ts'
import { reportFullConcurrency } from '../../src/push/watchdog.ts'
import { inEnglish } from '../support/texts.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const logger = createLogger('test', { level: 'fatal', format: 'json' })
const figures = (answeredAt: number) => ({ answeredAt, usualMs: 100 }) as PushFigures
const seen = () => inEnglish(observations.current()).find(({ code }) => code === 'push_full')

it('lanes that have waited for a request for half a minute are observed, with the possible number of requests', async () => {
  const limit = pLimit(4)
  const requests = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const pushed = requests.map(({ promise }) => limit(() => promise))
  let answers = false
  const statistics = { figures: () => figures(answers ? Date.now() : 0) }
  const api = { id: '', limit, rate: null, statistics } as PushApi
  const watching = reportFullConcurrency({ all: [api] }, logger)
  await vi.advanceTimersByTimeAsync(40_000)
  expect(seen()).toBeUndefined()
  answers = true
  await vi.advanceTimersByTimeAsync(29_000)
  expect(seen()).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1000)
  expect(seen()?.evidence).toEqual(['4 requests at once, 100 ms each: at most 40 a second'])
  for (const { resolve } of requests) resolve()
  await Promise.all(pushed)
  await vi.advanceTimersByTimeAsync(12_000)
  expect(seen()).toBeUndefined()
  clearInterval(watching)
})
