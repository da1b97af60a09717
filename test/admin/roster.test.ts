import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { deviceEntryOperations } from '../../src/admin/device/entry.ts'
import { register } from '../../src/admin/operation.ts'
import { rosterWrites } from '../../src/admin/roster/writes.ts'
import { keys } from '../../src/lanes/index.ts'
import { createLogger } from '../../src/observe/log.ts'
import { followConfig } from '../../src/process/roles/live.ts'
import { followRoster, ROSTER_HOLDS_MS } from '../../src/roster/index.ts'
import type { Loaded } from '../../src/roster/load.ts'
import { createHttpServer } from '../../src/tracking/http.ts'
import { adminFixture, connected, TOKEN } from '../support/admin.ts'
import { putDevice } from '../support/put-device.ts'

const admin = adminFixture()
const logger = createLogger('test', { level: 'fatal', format: 'json' })

// What was put before is not in effect any more once Redis is empty.
beforeEach(() => expect.poll(async () => (await admin.ask('/admin/devices/900')).status, { timeout: 10_000 }).toBe(404))

async function ask(method: string, id: number): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const body = method === 'PUT' ? '{"company_id":7}' : undefined
  return (await admin.ask(`/admin/devices/${id}`, { method, headers, body })).status
}

/** The roster, as another process around the same Redis has it. */
async function elsewhere() {
  const redis = await connected(admin.server.url)
  const roster = followRoster(redis, logger)
  onTestFinished(() => {
    roster.close()
    redis.disconnect()
  })
  await roster.first
  return roster
}

/** The ids of 10,005 devices that were deleted long ago, the first one first. */
async function oldDeletions(): Promise<string[]> {
  const old = Array.from({ length: 10_005 }, (_, n) => [`old ${n}`, `${n + 1} null`] as const)
  await admin.redis.hset(keys.roster('devices'), Object.fromEntries(old))
  await admin.redis.set(keys.roster('at'), Date.now())
  return old.map(([id]) => id)
}

/** A gateway that gives a sign of life, and has this of the roster in effect. */
async function gateway(applied: number): Promise<void> {
  await admin.redis.sadd(keys.gatewayIds, 'g')
  await admin.redis.set(keys.gateway('g'), '[]')
  await admin.redis.hset(keys.roster('applied'), 'g', applied)
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}

describe('a change', () => {
  it('is answered once every living gateway has it, or may not go by what it knew before any more', async () => {
    await gateway(Date.now() + 60_000)
    expect(await secondsOf(() => ask('PUT', 900))).toBeLessThan(ROSTER_HOLDS_MS / 1000)
    await gateway(0)
    expect(await secondsOf(() => ask('PUT', 900))).toBeGreaterThanOrEqual(ROSTER_HOLDS_MS / 1000)
  })

  it('sees those that were asked for before it: of several that delete a device one has', async () => {
    expect(await ask('PUT', 900)).toBe(200)
    const atOnce = (method: string) => Promise.all(Array.from({ length: 10 }, () => ask(method, 900)))
    // With the connections open they arrive together.
    expect(await atOnce('GET')).toEqual(Array(10).fill(200))
    expect((await atOnce('DELETE')).filter((status) => status === 200)).toEqual([200])
  })

  it('sees what another process has written just before', async () => {
    for (const id of [900, 901, 902]) {
      await putDevice(admin.redis, String(id), { id: String(id), company_id: '7', source: '' })
      expect(await ask('DELETE', id)).toBe(200)
    }
  })

  it('forgets deletions of which there are more than anybody needs', async () => {
    const old = await oldDeletions()
    expect(await ask('PUT', 900)).toBe(200)
    const left = await admin.redis.hkeys(keys.roster('devices'))
    expect(left.toSorted()).toEqual(['900', ...old.slice(5)].toSorted())
  })
})

/** Changes as an admin process of its own makes them, and a put of nothing by what is in effect. */
async function writing() {
  const redis = await connected(admin.server.url)
  const live = await followConfig({ dir: admin.dir, protocols: null, role: 'admin', outspoken: false })
  const roster = followRoster(redis, logger)
  onTestFinished(async () => {
    await live.close()
    redis.disconnect()
  })
  await live.join(roster)
  const change = rosterWrites({ redis, roster, loaded: () => live.loaded(), catchUp: () => live.catchUp() })
  const put = async ({ edits }: Loaded) => ({
    at: await roster.putRoutes({ company_id: '7', from: 0, until: 1, rows: [] }, { asOf: edits.at, puts: [] }),
  })
  return { roster, change, put }
}

describe('a change whose write is of what was in effect', () => {
  it('is asked again where another process has written meanwhile', async () => {
    const [{ change, put }, other] = [await writing(), await elsewhere()]
    const seen: number[] = []
    const { at } = await change(async (loaded) => {
      seen.push(loaded.edits.devices.size)
      if (seen.length === 1) await putDevice(admin.redis, '901', null)
      return put(loaded)
    })
    expect(seen).toEqual([0, 1])
    expect((await other.refresh()).routes.map((each) => each.at)).toEqual([at])
  })

  it('is refused where others write all the time', async () => {
    const [{ change, put }, other] = [await writing(), await elsewhere()]
    const changed = change(async (loaded) => {
      await putDevice(admin.redis, '901', null)
      return put(loaded)
    })
    await expect(changed).rejects.toMatchObject({ code: 504, message: expect.stringContaining('try again') as string })
    expect((await other.refresh()).routes).toEqual([])
  })
})

it('a change is answered, and forgets deletions, though the memory of Redis is full by then', async () => {
  const { change, put } = await writing()
  const old = await oldDeletions()
  onTestFinished(() => maxMemory(256 * 1024 * 1024))
  await change(async (loaded) => {
    const written = await put(loaded)
    await maxMemory(1)
    return written
  })
  await expect(admin.redis.set('more', 'x')).rejects.toThrow('OOM')
  expect((await admin.redis.hkeys(keys.roster('devices'))).toSorted()).toEqual(old.slice(5).toSorted())
})

async function maxMemory(bytes: number): Promise<void> {
  await admin.redis.config('SET', 'maxmemory', bytes)
}

/** Changes of devices through a process of its own, with the statuses that they are answered with. */
async function port() {
  const { roster, change } = await writing()
  const server = createHttpServer({ fault: (error, _, reply) => reply.code(500).send(error.message), closeMs: 1000 })
  onTestFinished(() => server.close())
  register(
    server.app,
    deviceEntryOperations(roster, change, async () => ({})),
    async () => {},
  )
  const url = `http://127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 })}/admin/devices/`
  const status = async (id: string, request: RequestInit) => (await fetch(url + id, request)).status
  const headers = { 'content-type': 'application/json' }
  return {
    put: (id: string, entry: object) =>
      status(id, { method: 'PUT', headers, body: JSON.stringify({ company_id: 7, ...entry }) }),
    remove: (id: string) => status(id, { method: 'DELETE' }),
  }
}

const sorted = (statuses: number[]) => statuses.toSorted((a, b) => a - b)
const TIMES = Array.from({ length: 10 }, (_, time) => String(time))

describe('of two changes of devices at once through two processes', () => {
  it('one alone has a name that devices of two couriers would have', async () => {
    const [one, other] = [await port(), await port()]
    for (const time of TIMES) {
      const name = `Van ${time}`
      const vans = [one.put(`4${time}`, { courier_id: 4, name }), other.put(`5${time}`, { courier_id: 5, name })]
      expect(sorted(await Promise.all(vans))).toEqual([200, 422])
    }
  })

  it('one drops a secret, though the other keeps what there is', async () => {
    const [one, other, { refresh }] = [await port(), await port(), await elsewhere()]
    for (const time of TIMES) {
      const secret = async () => (await refresh()).devices.get(time)?.device?.secretDigest
      expect([await one.put(time, { secret: 'canary' }), await secret()]).toEqual([200, expect.any(String)])
      expect(await Promise.all([one.put(time, { secret: null }), other.put(time, {})])).toEqual([200, 200])
      expect(await secret()).toBeUndefined()
    }
  })

  it('one alone deletes a device', async () => {
    const [one, other] = [await port(), await port()]
    for (const time of TIMES) {
      await one.put(time, {})
      expect(sorted(await Promise.all([one.remove(time), other.remove(time)]))).toEqual([200, 404])
    }
  })
})
