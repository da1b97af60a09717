import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  Appender,
  connect,
  DuplicateFilter,
  isConnectionError,
  keys,
  packDevice,
  packRecords,
  type Store,
} from '../../src/store/index.ts'
import { durabilityProblems, missingReplicas, redisPrimaries } from '../../src/redis/durability.ts'
import { RedisCluster } from '../rig/redis-cluster.ts'
import { UNFILTERED } from '../support/appending.ts'
import { freePorts } from '../support/free-ports.ts'
import { inEnglish } from '../support/texts.ts'

const DEVICE = '356307042441013'
const LANE = '7/42/1001'
const PASSWORD = 'of-all-servers'
/** On a busy machine a replica may not have a write within a second: then it is not acknowledged, and is sent again. */
const SOON = { timeout: 60_000 }

describe('a Redis Cluster', () => {
  let cluster: RedisCluster
  let seeds: { host: string; port: number }[]
  const open: Store[] = []

  beforeAll(async () => {
    const ports = await freePorts(12)
    const machines = [0, 2, 4, 6, 8, 10].map((at) => ({
      host: '127.0.0.1',
      port: ports[at],
      sentinelPort: ports[at + 1],
    }))
    cluster = await RedisCluster.start({ machines, password: PASSWORD, nodeTimeoutMs: 3000 })
    // Two nodes that do not have the slot.
    seeds = machines.slice(1, 3).map(({ host, port }) => ({ host, port }))
  })
  afterEach(() => open.splice(0).forEach((redis) => redis.disconnect()))
  afterAll(() => cluster.stop())

  async function connection(): Promise<Store> {
    const redis = connect({ cluster: seeds, replicas: 1, password: PASSWORD }, 'test')
    open.push(redis)
    await expect.poll(() => redis.status, { timeout: 30_000 }).toBe('ready')
    return redis
  }

  /** Sends fixes as a gateway that has just started. Rejects if they may not be acknowledged. */
  async function send(...times: number[]) {
    return storing(await connection())(...times)
  }

  /** How many connections that ask for the master a node has. */
  async function asking(index: number): Promise<number> {
    const clients = await cluster.redis(index, (redis) => redis.client('LIST'))
    return String(clients).split('name=waybridge-cluster').length - 1
  }

  it('connects to a Cluster through nodes without its slot, and checks it like a primary with replicas', async () => {
    const redis = await connection()
    expect(inEnglish(await durabilityProblems(redis.shards))).toEqual([])
    expect(inEnglish(await missingReplicas(redis.shards))).toEqual([])
    const index = await cluster.replica()
    await cluster.redis(index, (server) => server.config('SET', 'appendfsync', 'everysec'))
    expect(inEnglish(await durabilityProblems(redis.shards))).toEqual([
      `The replica 127.0.0.1:${cluster.machines[index].port} has appendfsync everysec, needed is appendfsync always: what is acknowledged could be lost`,
    ])
    await cluster.redis(index, (server) => server.config('SET', 'appendfsync', 'always'))
  })

  it('names the masters of a Cluster with their shards and replicas, and how far these are behind', async () => {
    const redis = connect({ cluster: seeds, replicas: 1, shards: 3, password: PASSWORD }, 'test')
    open.push(redis)
    await expect.poll(() => redis.shards.every(({ status }) => status === 'ready'), { timeout: 30_000 }).toBe(true)
    // A replica that has waited for the processor is behind for a moment.
    const inStep = Array.from({ length: 3 }, () => ['online', true])
    const states = async () =>
      (await redisPrimaries(redis.shards)).flatMap(({ replicas }) =>
        replicas.map(({ state, lagS }) => [state, lagS <= 1]),
      )
    await expect.poll(states).toEqual(inStep)
    const primaries = await redisPrimaries(redis.shards)
    // Slot 1667 is the first master's, 5794 and 9921 the second's and third's: see `RedisCluster`.
    expect(new Set(primaries.flatMap(({ shards }) => shards))).toEqual(new Set([0, 1, 2]))
    const known = primaries.flatMap(({ address, replicas }) => [
      address,
      ...replicas.map(({ port }) => `127.0.0.1:${port}`),
    ])
    expect(known.toSorted()).toEqual(cluster.machines.map(({ port }) => `127.0.0.1:${port}`).toSorted())
  })

  it('asks a Cluster for the master by one connection a node, and by none at the end', async () => {
    const store = await connection()
    const connections = [store, store.openAnother({}), store.duplicate()]
    await expect.poll(() => connections.map(({ status }) => status)).toEqual(['ready', 'ready', 'ready'])
    await expect.poll(() => asking(1)).toBe(1)
    // None comes back, though a look may be under way: looks are a second apart.
    for (const redis of connections) redis.disconnect()
    await pause(1500)
    await expect.poll(() => asking(1)).toBe(0)
  })

  it('acknowledges nothing that a replica of the Cluster lacks', async () => {
    const time = now()
    const index = await cluster.replica()
    cluster.signal(index, 'SIGSTOP')
    try {
      await expect(send(time)).rejects.toThrow('fewer than 1 replicas have the write')
    } finally {
      cluster.signal(index, 'SIGCONT')
    }
    await cluster.inStep()
    await expect.poll(() => send(time), SOON).toEqual({ duplicates: 1, refused: false })
  })

  it('follows a Cluster to another master, and sends no command twice', async () => {
    const redis = await connection()
    const tries = `${keys.custody}-tries`
    const failures: Error[] = []
    let asked = 0
    const over = new AbortController()
    const ask = async () => {
      for (; !over.signal.aborted; await setImmediate()) {
        asked++
        await redis.incr(tries).catch((error: Error) => failures.push(error))
      }
    }
    const changeMaster = async () => {
      const closed = new Promise((resolve) => redis.once('close', resolve))
      await cluster.failOver()
      await closed
      await expect.poll(() => redis.status, SOON).toBe('ready')
      over.abort()
    }
    await Promise.all([ask(), changeMaster()])
    expect(failures.filter((error) => !isConnectionError(error))).toEqual([])
    const stored = Number(await redis.get(tries))
    expect(stored).toBeGreaterThan(0)
    expect(stored).toBeLessThanOrEqual(asked)
    await cluster.inStep()
  })

  it('follows a Cluster when its master hangs', async () => {
    const redis = await connection()
    const before = await cluster.primary()
    const closed = new Promise((resolve) => redis.once('close', resolve))
    cluster.signal(before, 'SIGSTOP')
    try {
      await closed
      await expect.poll(() => redis.status, SOON).toBe('ready')
      expect(await cluster.primary()).not.toBe(before)
    } finally {
      cluster.signal(before, 'SIGCONT')
    }
    await cluster.inStep()
  })

  it('follows a slot that Valkey 9 moves to another master under load, and loses nothing acknowledged', async ({
    skip,
  }) => {
    const redis = await connection()
    const server = await redis.info('server')
    skip(!/^valkey_version:(?:9|\d\d)\./m.test(server), 'needs a Valkey from 9 on')
    const before = await cluster.primary()
    const store = storing(redis)
    const acknowledged: number[] = []
    const over = new AbortController()
    const load = async () => {
      for (let time = now() - 50_000; !over.signal.aborted; time++, await setImmediate())
        await store(time).then(
          () => acknowledged.push(time),
          () => {},
        )
    }
    const move = async () => {
      await expect.poll(() => acknowledged.length).toBeGreaterThan(50)
      await cluster.moveSlot()
      const count = acknowledged.length
      await expect.poll(() => acknowledged.length, { timeout: 30_000 }).toBeGreaterThan(count + 50)
      over.abort()
    }
    await Promise.all([load(), move().finally(() => over.abort())])
    expect(await cluster.primary()).not.toBe(before)
    await expect.poll(() => send(...acknowledged), SOON).toEqual({ duplicates: acknowledged.length, refused: false })
    await cluster.inStep()
  })

  it('keeps acknowledged fixes when the master of a Cluster is lost for good, and continues with another', async () => {
    const time = now() + 2
    await expect.poll(() => send(time), SOON).toMatchObject({ refused: false })
    const lost = await cluster.primary()
    await cluster.destroy(lost)
    await cluster.revive(lost)
    await cluster.inStep()
    expect(await cluster.primary()).not.toBe(lost)
    await expect.poll(() => send(time), SOON).toEqual({ duplicates: 1, refused: false })
  })
})

/** Stores fixes of these times, Unix seconds, as a gateway that has just started. */
function storing(redis: Store) {
  const duplicates = new DuplicateFilter(redis, { windowMs: 86_400_000, maxFutureMs: 300_000 })
  const appender = new Appender(redis, { ...UNFILTERED, duplicates })
  return (...times: number[]) => {
    const fixes = times.map((timestamp) => ({ timestamp, latitude: 52.5, longitude: 13.4, accuracy: 5 }))
    const part = { lane: LANE, device: DEVICE, records: packRecords(fixes, packDevice(DEVICE), Date.now()) }
    return appender.append({ parts: [part], received: fixes.length, filtered: [] })
  }
}

/** Unix seconds. */
function now(): number {
  return Math.floor(Date.now() / 1000)
}
