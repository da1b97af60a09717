import { pino } from 'pino'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { memoryProblems, type Room, watchRoom } from '../../src/ingest/room.ts'
import { keys, type Part, type Redis } from '../../src/lanes/index.ts'
import { withRedis } from '../support/with-redis.ts'

const FULL = 'Redis has more than 85 % of its memory in use: nothing is acknowledged'
const soon = { timeout: 10_000 }

let redis: Redis

withRedis((_, connection) => {
  redis = connection
})

function watch(maxParked: number): { room: Room; said: string[] } {
  const said: string[] = []
  const logger = pino({}, { write: (line) => void said.push((JSON.parse(line) as { msg: string }).msg) })
  const room = watchRoom(redis, { stopAt: 0.85, maxParked, logger })
  onTestFinished(() => room.stop())
  return { room, said }
}

const toLane = (lane: string): Part[] => [{ lane, device: '1', records: Buffer.alloc(0) }]
const roomFor = (room: Room) => ['7/1/1', '7/1/2', '7/1/3'].map((lane) => room.for(toLane(lane)))

/** Lane 7/1/1 is parked whole with 3 positions; of 7/1/2 two were refused and 5 wait; of 7/1/3 four wait. */
async function park(): Promise<void> {
  for (const [key, count] of [
    [keys.lane('7/1/1'), 3],
    [keys.refused('7/1/2'), 2],
    [keys.lane('7/1/2'), 5],
    [keys.lane('7/1/3'), 4],
  ] as const)
    await redis.rpush(key, ...Array<string>(count).fill('x'))
  await redis.hset(keys.parked, '7/1/1', '{}')
  await redis.zadd(keys.refusedLanes, 1, '7/1/2')
}

describe('what is parked', () => {
  it('above its bound leaves no room in the lanes that have parked positions', async () => {
    await park()
    const { room, said } = watch(4)
    await expect.poll(() => roomFor(room), soon).toEqual([false, false, true])
    expect(said).toEqual(['5 positions are parked: devices on parked lanes are not acknowledged any more'])
    await redis.del(keys.refused('7/1/2'), keys.refusedLanes)
    await expect.poll(() => roomFor(room), soon).toEqual([true, true, true])
  })

  it('within its bound leaves room: what waits behind refused positions is not parked', async () => {
    await park()
    const [within, above] = [watch(5), watch(4)]
    await expect.poll(() => roomFor(above.room), soon).toEqual([false, false, true])
    expect(roomFor(within.room)).toEqual([true, true, true])
  })
})

describe('the memory of Redis', () => {
  afterEach(() => redis.config('SET', 'maxmemory', '256mb'))

  it('leaves no room while too much is in use, but for what needs none', async () => {
    const { room } = watch(10)
    await redis.config('SET', 'maxmemory', '1mb')
    await expect.poll(() => room.problems, soon).toEqual([FULL])
    expect([room.for(toLane('7/1/1')), room.for([])]).toEqual([false, true])
    expect(memoryProblems(await redis.info('memory'), 0.85)).toEqual([FULL])
    await redis.config('SET', 'maxmemory', '256mb')
    await expect.poll(() => room.problems, soon).toEqual([])
    expect(room.for(toLane('7/1/1'))).toBe(true)
  })

  it.each([
    ['used_memory:85\r\nmaxmemory:100\r\n', []],
    ['used_memory:86\r\nmaxmemory:100\r\n', [FULL]],
    ['used_memory:86\r\nmaxmemory:0\r\n', []],
  ])('as %j is enough or not', (info, problems) => expect(memoryProblems(info, 0.85)).toEqual(problems))
})
