import { type EventEmitter, once } from 'node:events'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  addCorrections,
  connect,
  custodyCounters,
  DuplicateFilter,
  keys,
  Appender,
  type Lease,
  Leases,
  packDevice,
  packRecords,
  type Store,
} from '../../src/store/index.ts'
import { durabilityProblems, missingReplicas } from '../../src/redis/durability.ts'
import { NotReplicated, Replication } from '../../src/redis/replication.ts'
import { GROUP_NAME, RedisGroup } from '../rig/redis-group.ts'
import type { Machine } from '../rig/redis-servers.ts'
import { UNFILTERED } from '../support/appending.ts'
import { freePorts } from '../support/free-ports.ts'
import { inEnglish } from '../support/texts.ts'

const DEVICE = '356307042441013'
const LANE = '7/42/1001'
const PASSWORD = 'of-all-servers'
/** On a busy machine a replica may not have a write within a second: then it is not acknowledged, and is sent again. */
const SOON = { timeout: 60_000 }

/** The part of ioredis that listens to Sentinels. */
interface Detector {
  readonly sentinels: readonly { readonly client: EventEmitter }[]
}

/** Two replicas: a Sentinel alone may not name another primary. */
describe('a Redis with replicas', () => {
  let machines: Machine[]
  let group: RedisGroup
  const open: Store[] = []

  beforeAll(async () => {
    const ports = await freePorts(6)
    machines = [0, 2, 4].map((at) => ({ host: '127.0.0.1', port: ports[at], sentinelPort: ports[at + 1] }))
    group = await RedisGroup.start({ machines, password: PASSWORD })
  })
  afterEach(() => open.splice(0).forEach((redis) => redis.disconnect()))
  afterAll(() => group.stop())

  /** A connection as each process has one, through the Sentinels. */
  async function connection(replicas = 2): Promise<Store> {
    const sentinels = machines.map(({ host, sentinelPort: port }) => ({ host, port }))
    const redis = connect(
      { sentinels, name: GROUP_NAME, replicas, password: PASSWORD, sentinel_password: PASSWORD },
      'test',
    )
    open.push(redis)
    await expect.poll(() => redis.status, { timeout: 30_000 }).toBe('ready')
    return redis
  }

  /** Sends a fix as a gateway that has just started. Rejects if it may not be acknowledged. */
  async function send(time: number) {
    const redis = await connection()
    const duplicates = new DuplicateFilter(redis, { windowMs: 86_400_000, maxFutureMs: 300_000 })
    const appender = new Appender(redis, { ...UNFILTERED, duplicates })
    const fix = { timestamp: time, latitude: 52.5, longitude: 13.4, accuracy: 5 }
    const part = { lane: LANE, device: DEVICE, records: packRecords([fix], packDevice(DEVICE), Date.now()) }
    return appender.append({ parts: [part], received: 1, filtered: [] })
  }

  const replica = () => group.replica()

  it.each([
    ['an unknown name', { name: 'other' }, /^failed to connect to sentinel .* No such master with that name$/],
    ['a wrong password of the servers', { password: 'wrong' }, /^WRONGPASS/],
    [
      'a wrong password of the Sentinels',
      { sentinel_password: 'wrong' },
      /^failed to connect to sentinel .* WRONGPASS/,
    ],
    ['Sentinels that are away', { sentinels: [{ host: '127.0.0.1', port: 1 }] }, /^failed to connect to sentinel 127/],
  ])('reports why Redis is not reached with %s', async (_, wrong, trouble) => {
    const sentinels = machines.map(({ host, sentinelPort: port }) => ({ host, port }))
    const right = { sentinels, name: GROUP_NAME, password: PASSWORD, sentinel_password: PASSWORD }
    const lines: string[] = []
    const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
    const redis = connect({ ...right, ...wrong }, 'test', logger)
    open.push(redis)
    await expect.poll(() => redis.trouble, { timeout: 20_000 }).toMatch(trouble)
    await expect.poll(() => lines.join(), { timeout: 20_000 }).toContain('nothing is stored until it is back: ')
  })

  it('reports the primary of a Redis that is a replica itself', async () => {
    const { host, port } = machines[await replica()]
    const text = /^this Redis is a replica of 127\.0\.0\.1:\d+ and takes no writes: name its primary in redis\.url$/
    for (const replicas of [0, 2]) {
      const redis = connect({ url: `redis://:${PASSWORD}@${host}:${port}`, replicas }, 'test')
      open.push(redis)
      await expect.poll(() => redis.status, { timeout: 20_000 }).toBe('ready')
      const said =
        replicas === 0
          ? inEnglish(await durabilityProblems(redis.shards))
          : inEnglish(await missingReplicas(redis.shards))
      expect(said).toEqual([expect.stringMatching(text)])
    }
  })

  it('reports that redis.cluster names a Redis that is no Cluster', async () => {
    const [{ host, port }] = machines
    const redis = connect({ cluster: [{ host, port }], password: PASSWORD }, 'test')
    open.push(redis)
    await expect.poll(() => redis.trouble, { timeout: 20_000 }).toMatch(/: ERR .* cluster support disabled$/)
  })

  it('looks for Redis until it is found, though Sentinels name another primary meanwhile', async () => {
    const redis = await connection()
    const { connector } = redis as unknown as { connector: { failoverDetector: Detector | null } }
    await expect.poll(() => connector.failoverDetector).toBeTruthy()
    const { sentinels } = connector.failoverDetector as Detector
    const connecting = new Promise((resolve) => redis.once('connecting', resolve))
    redis.stream.destroy()
    await connecting
    expect(connector.failoverDetector).toBeNull()
    for (const { client } of sentinels) client.emit('message', '+switch-master', '')
    await expect.poll(() => redis.status, { timeout: 30_000 }).toBe('ready')
  })

  it('checks that all replicas that may be promoted write through, and that the primary writes to all', async () => {
    const redis = await connection()
    expect(inEnglish(await durabilityProblems(redis.shards))).toEqual([])
    expect(inEnglish(await missingReplicas(redis.shards))).toEqual([])
    const index = await replica()
    const name = `127.0.0.1:${machines[index].port}`
    await group.redis(index, (server) => server.config('SET', 'appendfsync', 'everysec'))
    await group.redis(await group.primary(), (server) => server.config('SET', 'min-replicas-to-write', '1'))
    expect(inEnglish(await durabilityProblems(redis.shards))).toEqual([
      'Redis has min-replicas-to-write 1, needed is min-replicas-to-write 2: what is acknowledged could be lost',
      `The replica ${name} has appendfsync everysec, needed is appendfsync always: what is acknowledged could be lost`,
    ])
    await group.redis(index, (server) => server.config('SET', 'appendfsync', 'always'))
    await group.redis(await group.primary(), (server) => server.config('SET', 'min-replicas-to-write', '2'))
  })

  it('reports more replicas than a write waits for, though one is never promoted', async () => {
    const redis = await connection(1)
    const index = await replica()
    await group.redis(index, (server) => server.config('SET', 'replica-priority', '0'))
    const [first, second] = inEnglish(await durabilityProblems(redis.shards))
    await group.redis(index, (server) => server.config('SET', 'replica-priority', '100'))
    expect(first).toContain('needed is min-replicas-to-write 1')
    expect(second).toContain('redis.replicas is 1, but 2 replicas are connected')
    expect(second).toMatch(/Set redis.replicas: 2$/)
  })

  it('acknowledges neither a fix that a replica lacks nor its duplicate until the replica has it', async () => {
    const time = now()
    const index = await replica()
    group.signal(index, 'SIGSTOP')
    try {
      await expect(send(time)).rejects.toThrow('fewer than 2 replicas have the write')
      // It is in the primary now: another gateway finds a duplicate.
      await expect(send(time)).rejects.toThrow('fewer than 2 replicas have the write')
    } finally {
      group.signal(index, 'SIGCONT')
    }
    await expect.poll(() => send(time), SOON).toEqual({ duplicates: 1, refused: false })
    await group.redis(index, async (server) => expect(await server.llen(keys.lane(LANE))).toBe(1))
  })

  it('counts what is filtered once while a replica hangs', async () => {
    const redis = await connection()
    const appender = new Appender(redis, UNFILTERED)
    const index = await replica()
    appender.count(['invalid'])
    group.signal(index, 'SIGSTOP')
    try {
      await appender.tidy()
    } finally {
      group.signal(index, 'SIGCONT')
    }
    await appender.tidy()
    expect((await custodyCounters(redis)).get('filtered:invalid')).toBe(1)
  })

  it('what is pushed while a replica hangs is dropped once it is delivered', async () => {
    await expect.poll(() => send(now() + 3), SOON).toMatchObject({ refused: false })
    const redis = await connection()
    const leases = new Leases(redis, { maxPositions: 10, maxWaitMs: 0 })
    let lease: Lease | undefined
    await expect.poll(async () => ([lease] = await leases.claim(1).catch(() => [])), SOON).toHaveLength(1)
    const index = await replica()
    await expect.poll(() => leases.take(lease as Lease).then(() => true), SOON).toBe(true)
    group.signal(index, 'SIGSTOP')
    try {
      await leases.renew([lease as Lease])
    } finally {
      group.signal(index, 'SIGCONT')
    }
    await leases.done(lease as Lease, { count: 10, status: 200, wanted: 0, atOnce: false })
    expect(await redis.llen(keys.lane(LANE))).toBe(0)
  })

  it('counts a correction as stored once the replicas have it', async () => {
    const redis = await connection()
    const correction = { device: DEVICE, from: 0, until: 1, lanes: [], at: 0 }
    const index = await replica()
    group.signal(index, 'SIGSTOP')
    try {
      await expect(addCorrections(redis, [correction])).rejects.toThrow('fewer than 2 replicas have the write')
    } finally {
      group.signal(index, 'SIGCONT')
    }
    await expect.poll(() => addCorrections(redis, [correction]), SOON).toBeUndefined()
  })

  it('reports how many replicas are missing', async () => {
    const redis = await connection()
    const index = await replica()
    await group.kill(index)
    await expect
      .poll(async () => inEnglish(await missingReplicas(redis.shards)), { timeout: 30_000 })
      .toEqual(['1 of 2 replicas of Redis are connected: nothing is acknowledged until all are'])
    await expect(send(now() + 1)).rejects.toThrow('NOREPLICAS')
    await group.revive(index)
    await group.inStep()
    expect(inEnglish(await missingReplicas(redis.shards))).toEqual([])
  })

  it('keeps acknowledged fixes when the primary is lost for good, and continues with another one', async () => {
    const time = now() + 2
    await expect.poll(() => send(time), SOON).toMatchObject({ refused: false })
    const lost = await group.primary()
    await group.destroy(lost)
    await group.revive(lost)
    await group.inStep()
    await expect.poll(() => send(time), SOON).toEqual({ duplicates: 1, refused: false })
    expect(await group.primary()).not.toBe(lost)
  })

  it('does not count a write whose connection ended before the replicas were asked', async () => {
    const redis = await connection()
    const replication = new Replication(redis, 2)
    const reconnect = async () => {
      const back = once(redis, 'ready')
      redis.disconnect(true)
      await back
      expect(await redis.wait(2, 1000)).toBe(2)
    }
    await expect(replication.confirmed(reconnect)).rejects.toThrow(NotReplicated)
    await expect.poll(() => replication.confirmed(() => redis.set('after', 'that')), SOON).toBe('OK')
  })
})

/** Unix seconds. */
function now(): number {
  return Math.floor(Date.now() / 1000)
}
