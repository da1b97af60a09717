import { once } from 'node:events'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { connect, keys, type Store } from '../../src/store/index.ts'
import { durabilityProblems, missingReplicas } from '../../src/redis/durability.ts'
import { RedisCluster } from '../rig/redis-cluster.ts'
import { GROUP_NAME, RedisGroup } from '../rig/redis-group.ts'
import type { Machine } from '../rig/redis-servers.ts'
import { CertificateMaker, type Issued } from '../support/certificates.ts'
import { freePorts } from '../support/free-ports.ts'

const usual = getCACertificates('default')
const open: Store[] = []
let maker: CertificateMaker
let tls: Issued

beforeAll(async () => {
  maker = await CertificateMaker.create()
  tls = await maker.issue('redis', { cn: 'redis', san: 'IP:127.0.0.1', isAuthority: true })
})
afterEach(() => {
  open.splice(0).forEach((redis) => redis.disconnect())
  setDefaultCACertificates(usual)
})
afterAll(() => maker.remove())

describe('Sentinels with TLS', () => {
  let machines: Machine[]
  let group: RedisGroup

  beforeAll(async () => {
    machines = await machinesOf(2)
    group = await RedisGroup.start({ machines, tls })
  })
  afterAll(() => group.stop())

  const connection = () => {
    const sentinels = machines.map(({ host, sentinelPort: port }) => ({ host, port }))
    return opened(connect({ sentinels, name: GROUP_NAME, replicas: 1, tls: true }, 'test'))
  }

  it('follows the primary that Sentinels name over TLS, and checks its replica', async () => {
    trust(tls)
    const redis = connection()
    await expect.poll(() => redis.status, { timeout: 30_000 }).toBe('ready')
    expect(await durabilityProblems(redis.shards)).toEqual([])
    expect(await missingReplicas(redis.shards)).toEqual([])
    const closed = new Promise((resolve) => redis.once('close', resolve))
    await group.failOver()
    await closed
    await expect.poll(() => redis.status, { timeout: 30_000 }).toBe('ready')
    await group.inStep()
    await expect.poll(() => writes(redis), { timeout: 30_000 }).toBe(true)
  })

  it('does not believe Sentinels whose certificate is not trusted', async () => {
    const redis = connection()
    const [error] = await once(redis, 'error')
    expect(String(error)).toContain('All sentinels are unreachable')
    expect(redis.status).not.toBe('ready')
  })
})

it('reaches a Redis Cluster with TLS only if its certificate is trusted', async () => {
  const machines = await machinesOf(3)
  const cluster = await RedisCluster.start({ machines, tls })
  try {
    const server = { cluster: machines.slice(1), tls: true }
    const refused = opened(connect({ ...server }, 'test'))
    const errors: string[] = []
    refused.on('error', ({ message }) => errors.push(message))
    await expect
      .poll(() => errors.join())
      .toMatch(/no node of the Redis Cluster names the master of the slot: self-signed certificate/)
    trust(tls)
    const redis = opened(connect(server, 'test'))
    await expect.poll(() => redis.status, { timeout: 30_000 }).toBe('ready')
    expect(await writes(redis)).toBe(true)
  } finally {
    await cluster.stop()
  }
})

/** Returns whether Redis accepts a write. */
async function writes(redis: Store): Promise<boolean> {
  return (await redis.set(keys.enrolment, '1').catch(() => '')) === 'OK'
}

function opened(redis: Store): Store {
  open.push(redis)
  return redis
}

function trust({ cert }: Issued): void {
  setDefaultCACertificates([...usual, cert])
}

async function machinesOf(count: number): Promise<Machine[]> {
  const ports = await freePorts(2 * count)
  return Array.from({ length: count }, (_, index) => {
    const [port, sentinelPort] = ports.slice(2 * index)
    return { host: '127.0.0.1', port, sentinelPort }
  })
}
