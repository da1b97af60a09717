import type { FastifyRequest } from 'fastify'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { deviceEntryOperations } from '../../src/admin/device/entry.ts'
import { register } from '../../src/admin/operation.ts'
import { rosterWrites } from '../../src/admin/roster/writes.ts'
import { EVERYTHING } from '../../src/admin/scope.ts'
import { createHttpServer } from '../../src/http/server.ts'
import { createLogger } from '../../src/observe/log.ts'
import { followConfig } from '../../src/process/roles/live.ts'
import { Replica } from '../../src/roster/replica.ts'
import { ROSTER_HOLDS_MS } from '../../src/store/gateways.ts'
import type { RosterWrite } from '../../src/roster/table.ts'
import { keys } from '../../src/store/index.ts'
import { adminFixture, connected, TOKEN } from '../support/admin.ts'
import { putDevice } from '../support/put-device.ts'

const admin = adminFixture()
const logger = createLogger('test', { level: 'fatal', format: 'json' })

// Earlier puts are no longer in effect after Redis was emptied.
beforeEach(() => expect.poll(async () => (await admin.ask('/admin/devices/900')).status, { timeout: 30_000 }).toBe(404))

async function ask(method: string, id: number): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const body = method === 'PUT' ? '{"company_id":7}' : undefined
  return (await admin.ask(`/admin/devices/${id}`, { method, headers, body })).status
}

/** Returns the roster as another process with the same Redis has it. */
async function elsewhere() {
  const redis = await connected(admin.server.url)
  const replica = new Replica(redis, logger)
  onTestFinished(() => {
    replica.close()
    redis.disconnect()
  })
  await replica.first
  return replica
}

/** Starts the sign of life of a gateway that has this roster version in effect. */
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

it('a change is answered when every living gateway has it, or may no longer use its older roster', async () => {
  await gateway(Date.now() + 60_000)
  // Polled, because a single request may take long on a busy machine.
  await expect.poll(() => secondsOf(() => ask('PUT', 900))).toBeLessThan(ROSTER_HOLDS_MS / 1000)
  await gateway(0)
  expect(await secondsOf(() => ask('PUT', 900))).toBeGreaterThanOrEqual(ROSTER_HOLDS_MS / 1000)
})

it('a change sees earlier changes: of several requests that delete a device, one succeeds', async () => {
  expect(await ask('PUT', 900)).toBe(200)
  const atOnce = (method: string) => Promise.all(Array.from({ length: 10 }, () => ask(method, 900)))
  // On open connections the requests arrive together.
  expect(await atOnce('GET')).toEqual(Array(10).fill(200))
  expect((await atOnce('DELETE')).filter((status) => status === 200)).toEqual([200])
})

it('a change sees what another process has written just before', async () => {
  for (const id of [900, 901, 902]) {
    await putDevice(admin.redis, String(id), { id: String(id), company_id: '7', source: '' })
    expect(await ask('DELETE', id)).toBe(200)
  }
})

/** Returns a function that changes the roster like another admin process. WRITE drops a missing device. */
async function writing() {
  const redis = await connected(admin.server.url)
  const live = await followConfig({ dir: admin.dir, protocols: null, role: 'admin', followsFiles: false })
  onTestFinished(async () => {
    await live.close()
    redis.disconnect()
  })
  await live.join(new Replica(redis, live.logger))
  await expect.poll(() => live.complete, { timeout: 30_000 }).toBe(true)
  return { live, change: rosterWrites({ redis, live }) }
}

const WRITE: RosterWrite = { devices: [['901', undefined]], assignments: [] }
const device = (id: string) => ({ id, company_id: '7', source: '' })

it('a change is planned again if another process has written meanwhile', async () => {
  const { change, live } = await writing()
  const seen: boolean[] = []
  await change(async (roster) => {
    seen.push(roster.find('901') !== undefined)
    if (seen.length === 1) await putDevice(admin.redis, '901', device('901'))
    return { write: WRITE }
  })
  expect([seen, live.directory().find('901')]).toEqual([[false, true], undefined])
})

it('a change is refused if others write all the time', async () => {
  const [{ change }, other] = [await writing(), await elsewhere()]
  const changed = change(async () => {
    await putDevice(admin.redis, '901', device('901'))
    return { write: WRITE }
  })
  await expect(changed).rejects.toMatchObject({ code: 504, message: expect.stringContaining('try again') as string })
  await other.refresh()
  expect(other.roster.find('901')).toMatchObject({ company_id: '7' })
})

it('a change is answered although the memory of Redis has become full', async () => {
  const { change } = await writing()
  onTestFinished(() => maxMemory(256 * 1024 * 1024))
  const answered = change(async () => ({ write: WRITE }))
  await answered
  await maxMemory(1)
  await expect(admin.redis.set('more', 'x')).rejects.toThrow('OOM')
  expect(await ask('GET', 900)).toBe(404)
})

async function maxMemory(bytes: number): Promise<void> {
  await admin.redis.config('SET', 'maxmemory', bytes)
}

const access = async (request: FastifyRequest) => {
  request.caller = { label: 'test', role: 'operate', scope: EVERYTHING }
}

/** Starts another admin process; returns functions that change devices through it and return the status. */
async function port() {
  const { live, change } = await writing()
  const server = createHttpServer({ fault: (error, _, reply) => reply.code(500).send(error.message), closeMs: 1000 })
  onTestFinished(() => server.close())
  const operations = deviceEntryOperations(live, change, async () => ({}))
  register(server.app, operations, { access, companyOf: () => undefined })
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

describe('two changes of devices through two processes at once', () => {
  it('of two puts at once that give one name to devices of two couriers, only one takes effect', async () => {
    const [one, other] = [await port(), await port()]
    for (const time of TIMES) {
      const name = `Van ${time}`
      const vans = [one.put(`4${time}`, { courier_id: 4, name }), other.put(`5${time}`, { courier_id: 5, name })]
      expect(sorted(await Promise.all(vans))).toEqual([200, 422])
    }
  })

  it('of two puts at once, one can remove a secret although the other keeps it', async () => {
    const [one, other, replica] = [await port(), await port(), await elsewhere()]
    for (const time of TIMES) {
      const secret = () => replica.refresh().then(() => replica.roster.find(time)?.secretDigest)
      expect([await one.put(time, { secret: 'canary' }), await secret()]).toEqual([200, expect.any(String)])
      expect(await Promise.all([one.put(time, { secret: null }), other.put(time, {})])).toEqual([200, 200])
      expect(await secret()).toBeUndefined()
    }
  })

  it('of two deletions of a device at once, only one succeeds', async () => {
    const [one, other] = [await port(), await port()]
    for (const time of TIMES) {
      await one.put(time, {})
      expect(sorted(await Promise.all([one.remove(time), other.remove(time)]))).toEqual([200, 404])
    }
  })
})
