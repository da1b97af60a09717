import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import type { Role } from '../../src/process/role.ts'
import { startAdmin } from '../../src/process/roles/admin.ts'
import { startGateway } from '../../src/process/roles/gateway.ts'
import { followConfig, type Live } from '../../src/process/roles/live.ts'
import { connect, keys, type Redis } from '../../src/store/index.ts'
import { dial, type Product, startProduct } from '../rig/product.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'

const NOW = Math.floor(Date.now() / 1000)
const VAN = '356307042441013'
const soon = { timeout: 60_000, interval: 50 }
const at = (seconds: number) => new Date((NOW + seconds) * 1000).toISOString()
const HEADER = 'device,courier_id,route_id,from,until\n'
/** Returns a present line of the put device. */
const line = (route: number, hours = 1) => `Van 1,,${route},${at(-3600 * hours)},${at(3600 * hours)}\n`
const others = (route: number) => `1,9,${route},${at(-3600)},${at(3600)}\n`
const JSON_TYPE = { 'content-type': 'application/json' }
const CSV_TYPE = { 'content-type': 'text/csv' }

describe('changes of the roster through the admin port', () => {
  let product: Product
  let sent = 0

  beforeAll(async () => {
    product = await startProduct({
      'devices.yaml': '"1": { company_id: 7 }\n"2": { company_id: 7, courier_id: 2, time_zone: "-03:00" }\n',
      'routes.csv': HEADER,
    })
  })
  afterAll(async () => void (await product.end()))

  /** Sends a fix, one second later than the previous one, until it is acknowledged; returns its time. */
  async function send(): Promise<number> {
    const time = NOW - 600 + sent++
    const url = `http://127.0.0.1:${product.ports['http/osmand']}/?id=${VAN}&lat=52.5&lon=13.4&timestamp=${time}`
    await expect
      .poll(
        () =>
          fetch(url).then(
            ({ status }) => status,
            () => 0,
          ),
        soon,
      )
      .toBe(200)
    return time
  }

  async function arrives(route: string, time: number): Promise<void> {
    await expect
      .poll(() => product.positions(route, time, time).catch(() => []), soon)
      .toMatchObject([{ timestamp: time }])
  }

  async function restart(role: string): Promise<void> {
    const [pid] = product.pidsOf(role)
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => product.pidsOf(role).filter((each) => each !== pid).length, soon).toBe(1)
  }

  it('a device that is put gets its held fixes released', async () => {
    const held = await send()
    const put = {
      method: 'PUT',
      headers: JSON_TYPE,
      body: JSON.stringify({ name: 'Van 1', company_id: 7, courier_id: 5, route_id: 201 }),
    }
    expect(await product.admin(`/admin/devices/${VAN}`, put)).toMatchObject({
      configured: true,
      lane: { route_id: '201' },
    })
    await arrives('201', held)
  })

  const write = (lines: string) => product.write('routes.csv', HEADER + lines)

  /** Sends fixes until one is delivered to a route. */
  async function comesBy(route: string): Promise<void> {
    const come = async () => {
      await send()
      return product.positions(route, NOW - 600, NOW).catch(() => [])
    }
    await expect.poll(come, soon).not.toEqual([])
  }

  it('the next fix goes to the route of a line in a file, then to the route that is put over it', async () => {
    await write(line(301))
    await comesBy('301')
    const put = { method: 'PUT', headers: CSV_TYPE, body: HEADER + line(202) }
    const answer = await product.admin(`/admin/routes?company_id=7&from=${at(-7200)}&until=${at(7200)}`, put)
    expect(answer).toEqual({
      added: 0,
      changed: 1,
      removed: 0,
      put: expect.stringMatching(/^\d{13}$/) as unknown,
      rejected: [],
      without_route: ['1', '2'],
      devices: 3,
      // Meanwhile fixes were delivered to the two other routes.
      redeliver: expect.objectContaining({ fixes: expect.any(Number) as number }) as object,
    })
    await arrives('202', await send())
  })

  it('an answered put is in effect, even at a gateway that was stopped meanwhile', async () => {
    const { socket, answered } = await dial(product.ports['http/osmand'])
    const [pid] = product.pidsOf('gateway')
    process.kill(pid, 'SIGSTOP')
    const time = NOW - 600 + sent++
    const interval = `company_id=7&from=${at(-7200)}&until=${at(7200)}`
    const put = { method: 'PUT', headers: CSV_TYPE, body: HEADER + line(204) }
    expect(await product.admin(`/admin/routes?${interval}`, put)).toMatchObject({ changed: 1 })
    const query = `id=${VAN}&lat=52.5&lon=13.4&timestamp=${time}`
    await new Promise((resolve) => socket.write(`GET /?${query} HTTP/1.1\r\nHost: x\r\n\r\n`, resolve))
    process.kill(pid, 'SIGCONT')
    await expect.poll(() => String(answered()).slice(9, 12), soon).toMatch(/200|503/)
    await arrives('204', await send())
    expect(await product.positions('202', time, time)).toEqual([])
    await product.admin(`/admin/routes?${interval}`, { ...put, body: HEADER + line(202) })
    socket.destroy()
  })

  it('the roster is the same after every process was killed and restarted', async () => {
    for (const role of ['gateway', 'worker', 'admin', 'tracking']) await restart(role)
    await arrives('202', await send())
  })

  it('a put stays in effect over a line from before it in a file that is written later', async () => {
    await write(line(301) + others(302))
    await expect
      .poll(async () => JSON.stringify(await product.admin('/admin/routes?company_id=7')), soon)
      .toContain('"302"')
    await arrives('202', await send())
    await restart('gateway')
    await arrives('202', await send())
  })

  it('a line that is written to a file after a put is in effect over it, even after a kill of the gateway', async () => {
    await write(line(301) + others(302) + line(203, 0.9))
    await comesBy('203')
    await restart('gateway')
    await arrives('203', await send())
  })

  it('the chain of a device is broken until an assignment releases its held fix, also if it sends local time', async () => {
    const local = NOW - 60 - 3 * 3600
    const url = `http://127.0.0.1:${product.ports['http/osmand']}/?id=2&lat=52.5&lon=13.4&timestamp=${local}`
    await expect.poll(() => fetch(url).then(({ status }) => status), soon).toBe(200)
    const chain = () => product.admin('/admin/devices/2/chain')
    const isHeld = { broken: 'placed', findings: [{ code: 'no_route' }] }
    await expect.poll(chain, soon).toMatchObject(isHeld)
    const body = JSON.stringify({ route_id: '299', from_at: at(-3600) })
    await product.admin('/admin/devices/2/assign', { method: 'POST', headers: JSON_TYPE, body })
    await arrives('299', NOW - 60)
    await expect.poll(chain, soon).toMatchObject({ broken: null, findings: [] })
  })
})

async function sendTo({ ports }: Role, id: string, time: number): Promise<number> {
  const query = `id=${id}&lat=52.5&lon=13.4&timestamp=${time}`
  return (await fetch(`http://127.0.0.1:${ports?.['http/osmand']}/?${query}`)).status
}

describe('a roster that is put at another machine', () => {
  let server: TestRedis
  let redis: Redis
  let roles: Role[] = []
  const dirs: string[] = []

  beforeAll(async () => {
    server = await startTestRedis()
    redis = connect(server.url, 'test')
    const addresses = { redisServer: server.url, ports: {} }
    roles = [
      await startGateway(await live(), addresses),
      await startGateway(await live(), addresses),
      await startAdmin(await live(), { ...addresses, baseUrl: async () => 'http://127.0.0.1:9' }),
    ]
  })
  afterAll(async () => {
    for (const role of roles) await role.close()
    redis.disconnect()
    await server.stop()
    for (const dir of dirs) await rm(dir, { recursive: true })
  })

  async function live(): Promise<Live> {
    return followConfig({ dir: await folder(), protocols: protocolPorts, role: 'gateway', followsFiles: true })
  }

  async function folder(): Promise<string> {
    const dir = await mkdtemp(join(tmpdir(), 'waybridge-roster-'))
    dirs.push(dir)
    const yaml = `
redis: { url: "${server.url}" }
data_dir: "${join(dir, 'data')}"
companies: [{ company_id: 7, apikey: key }]
listeners: [{ transport: http, protocol: osmand, port: 0, host: 127.0.0.1 }]
mqtt: { broker: null }
admin: { port: 0, tokens: [t] }
hold: { unknown: false }
log: { level: fatal }
`
    await writeFile(join(dir, 'gateway.yaml'), yaml)
    await writeFile(join(dir, 'devices.yaml'), '"1": { company_id: 7 }\n')
    return dir
  }

  it('an answered put is in effect at every gateway with the same Redis', async () => {
    const headers = { authorization: 'Bearer t', ...JSON_TYPE }
    const body = JSON.stringify({ company_id: 7, courier_id: 5, route_id: 201 })
    const put = (id: string) =>
      fetch(`http://127.0.0.1:${roles[2].ports?.admin}/admin/devices/${id}`, { method: 'PUT', headers, body })
    await expect.poll(() => put('90').then(({ status }) => status), soon).toBe(200)
    for (const id of ['91', '92', '93', '94', '95']) {
      expect((await put(id)).status).toBe(200)
      const statuses = await Promise.all(roles.slice(0, 2).map((gateway, index) => sendTo(gateway, id, NOW + index)))
      expect(statuses).toEqual([200, 200])
    }
    // A fix right after a change is queued behind held fixes of the device, and released at once.
    await expect.poll(() => redis.llen(keys.lane('7/5/201')), soon).toBe(10)
  })

  it('gateways report the roster in effect again after Redis lost that report', async () => {
    await redis.del(keys.roster('applied'))
    await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await expect.poll(() => redis.hlen(keys.roster('applied')), soon).toBe(2)
  })

  it('a put does not wait for stopped gateways', async () => {
    expect(await redis.hlen(keys.roster('applied'))).toBe(2)
    for (const gateway of roles.splice(0, 2)) await gateway.close()
    expect(await redis.hlen(keys.roster('applied'))).toBe(0)
  })
})
