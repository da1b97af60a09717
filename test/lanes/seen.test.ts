import { array, assert, asyncProperty, boolean, integer, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createAppender,
  createSeen,
  custodyCounters,
  keys,
  packDevice,
  packRecords,
  type Redis,
  records,
  timestampOf,
} from '../../src/lanes/index.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

const HOLD = { maxFixesPerDevice: 100, maxUnknownDevices: 10 }
const WINDOW_MS = 86_400_000
const LANE = '7/42/1'

let server: TestRedis
let redis: Redis

withRedis((one, connection) => {
  server = one
  redis = connection
})

interface Place {
  readonly time: number
  readonly latitude?: number
}

/** A gateway that has just started, as far as repeats are concerned. */
function gateway({ alone = true, maxFutureMs = 300_000 } = {}) {
  const seen = createSeen({ windowMs: WINDOW_MS, maxFutureMs, alone: () => alone })
  const appender = createAppender(redis, { maxWaitMs: 0, seen, hold: HOLD })
  return async (device: string, ...fixes: Place[]) => {
    const positions = fixes.map(({ time, latitude = 52.5 }) => ({
      timestamp: time,
      latitude,
      longitude: 13.4,
      accuracy: 5,
    }))
    const part = { lane: LANE, device, records: packRecords(positions, packDevice(device), Date.now()) }
    return (await appender.append({ parts: [part], received: fixes.length, filtered: [] })).duplicates
  }
}

const stored = async () =>
  [...records(Buffer.concat(await redis.lrangeBuffer(keys.lane(LANE), 0, -1)))].map(timestampOf)
const NOW = Math.floor(Date.now() / 1000)
const LATER = NOW + 400
const t = (...times: number[]): Place[] => times.map((time) => ({ time }))

describe('a fix that was stored', () => {
  it('is not stored again, by the same gateway', async () => {
    const send = gateway()
    expect(await send('1', ...t(LATER, LATER + 1))).toBe(0)
    expect(await send('1', ...t(LATER, LATER + 1))).toBe(2)
    expect(await stored()).toEqual([LATER, LATER + 1])
  })

  it('is not stored again, by a gateway that has started anew', async () => {
    await gateway()('1', ...t(NOW, NOW + 1))
    expect(await gateway()('1', ...t(NOW, NOW + 1))).toBe(2)
    expect(await stored()).toEqual([NOW, NOW + 1])
  })

  it('is not stored again, whatever came in between, and with new ones around it', async () => {
    const send = gateway()
    await send('1', ...t(NOW))
    for (let i = 1; i <= 50; i++) await send('1', ...t(LATER + i))
    expect(await send('1', ...t(NOW - 1, NOW, LATER + 25, LATER + 51))).toBe(2)
    expect((await stored()).slice(-2)).toEqual([NOW - 1, LATER + 51])
  })

  it('is not stored again, by another gateway beside the first', async () => {
    const [a, b] = [gateway({ alone: false }), gateway({ alone: false })]
    await a('1', ...t(LATER, LATER + 1))
    expect(await b('1', ...t(LATER, LATER + 1, LATER + 2))).toBe(2)
    expect(await a('1', ...t(LATER + 2, LATER + 3))).toBe(1)
    expect(await stored()).toEqual([LATER, LATER + 1, LATER + 2, LATER + 3])
  })

  it('is not stored again days after its own time, as a backlog', async () => {
    const old = t(NOW - 9 * 86_400, NOW - 9 * 86_400 + 60, NOW - 8 * 86_400)
    expect(await gateway()('1', ...old)).toBe(0)
    expect(await gateway()('1', ...old)).toBe(3)
  })

  it('twice in one frame is stored once', async () => {
    const send = gateway()
    expect(await send('1', ...t(LATER, LATER, LATER + 1))).toBe(1)
    expect(await stored()).toEqual([LATER, LATER + 1])
  })

  it('is another one at another place, of another device, or a second later', async () => {
    const send = gateway()
    await send('1', { time: NOW, latitude: 52.5 })
    expect(await send('1', { time: NOW, latitude: 52.5000001 })).toBe(0)
    expect(await send('2', { time: NOW, latitude: 52.5 })).toBe(0)
    expect(await send('1', { time: NOW + 1, latitude: 52.5 })).toBe(0)
  })

  it('is counted as received and as a duplicate', async () => {
    const send = gateway()
    await send('1', ...t(NOW, NOW))
    await send('1', ...t(NOW))
    expect(await custodyCounters(redis)).toEqual(
      new Map([
        ['received', 3],
        ['filtered:duplicate', 2],
      ]),
    )
  })
})

describe('any order of sending and sending again', () => {
  it('stores each fix once, over restarts of the gateway', async () => {
    const frame = record({
      restart: boolean(),
      times: array(integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 8 }),
    })
    await assert(
      asyncProperty(array(frame, { maxLength: 25 }), boolean(), async (frames, alone) => {
        await redis.flushall()
        let send = gateway({ alone, maxFutureMs: 0 })
        const sent: number[] = []
        for (const { restart, times } of frames) {
          if (restart) send = gateway({ alone, maxFutureMs: 60_000 })
          sent.push(...times)
          await send('1', ...t(...times.map((time) => NOW - 20 + time)))
        }
        const once = [...new Set(sent)].map((time) => NOW - 20 + time)
        expect(await stored()).toEqual(once)
      }),
      { numRuns: 60 },
    )
  })
})

const calls = async () => Number(/cmdstat_get:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)

describe('what is remembered', () => {
  it('takes less than 16 bytes of Redis memory a fix, for vans that send every 10 s for 24 hours', async () => {
    const used = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
    const send = gateway()
    const before = await used()
    for (let device = 1; device <= 20; device++)
      for (let from = 0; from < 8640; from += 480)
        await send(String(device), ...t(...Array.from({ length: 480 }, (_, i) => NOW - 86_400 + (from + i) * 10)))
    await redis.del(keys.lane(LANE), keys.schedule)
    expect(((await used()) - before) / (20 * 8640)).toBeLessThan(16)
  })

  it('is kept for the whole window after the last fix that came late, and forgotten then', async () => {
    // With the second before it in one span of marks.
    const late = Math.floor((NOW - 7200) / 2048) * 2048 + 1
    await gateway()('1', ...t(late))
    const [set] = await redis.keys(`${keys.seenPrefix}*`)
    await redis.pexpire(set, 60_000)
    const send = gateway()
    await send('1', ...t(late - 1))
    expect(await redis.pttl(set)).toBeGreaterThan(WINDOW_MS + 3_600_000)
    await redis.pexpire(set, 1)
    await expect.poll(() => redis.exists(set)).toBe(0)
    expect(await send('1', ...t(late))).toBe(0)
  })

  it('is kept, though the call that was to keep it failed', async () => {
    const send = gateway()
    await server.kill('SIGKILL')
    await expect(send('1', ...t(LATER))).rejects.toThrow()
    await server.restart()
    await expect.poll(() => redis.status, { timeout: 10_000 }).toBe('ready')
    await send('1', ...t(LATER))
    const [set] = await redis.keys(`${keys.seenPrefix}*`)
    expect(await redis.pttl(set)).toBeGreaterThan(WINDOW_MS)
    expect(await redis.hget(keys.latestSpans, '1')).toBe(String(LATER >>> 11))
  })

  it('of long ago needs no look-up for what is newer, after a device’s first frame and its latest 2,048 s', async () => {
    const OLD = 1_700_000_000
    await gateway()('1', ...t(OLD))
    const send = gateway()
    await send('1', ...t(OLD + 1))
    const before = await calls()
    await send('1', ...t(OLD + 4096))
    await send('1', ...t(OLD + 4097))
    expect(await calls()).toBe(before)
    expect(await send('1', ...t(OLD, OLD + 4096, OLD + 1))).toBe(3)
  })

  it('needs no look-up for a fix newer than its device’s newest', async () => {
    const send = gateway()
    await send('1', ...t(LATER))
    const before = await calls()
    for (let i = 1; i <= 20; i++) await send('1', ...t(LATER + i))
    expect(await calls()).toBe(before)
    await send('1', ...t(LATER + 20))
    expect(await calls()).toBe(before + 1)
  })
})
