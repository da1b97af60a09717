import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Fix } from '../../protocols/kit/index.ts'
import { gt06 } from '../../src/sandbox/speak/gt06.ts'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { h02, wialon } from '../../src/sandbox/speak/text.ts'
import { dial, type Product, startProduct } from '../rig/product.ts'
import { waybridgeProcess } from '../support/cli.ts'
import { folder } from '../support/config-folder.ts'

const START = Math.floor(Date.now() / 1000) - 3600
const soon = { timeout: 60_000, interval: 50 }
const BIG = '9223372036854775807'

const DEVICES = `
"356307042441013": { name: Van 1, company_id: 7, courier_id: 1, route_id: 101 }
"356307042441021": { name: Van 2, company_id: 7, courier_id: 2, route_id: 102 }
"356307042441039": { name: Van 3, company_id: 7, courier_id: 3, route_id: 103 }
"356307042441047": { name: Van 4, company_id: 7, courier_id: 4, route_id: 104, secret: canary-device }
"5678901":         { name: Van 5, company_id: 7, courier_id: ${BIG}, route_id: ${BIG} }
"356307042441062": { name: Van 6, company_id: 7, courier_id: 6, route_id: 106, secret: canary-device, previous_secret: canary-previous }
"356307042441070": { name: Van 7, company_id: 7, courier_id: 7, route_id: 107 }
"356307042441088": { name: Van 8, company_id: 7, courier_id: 8, route_id: 108 }
`
const ROUTES = 'device,courier_id,route_id,from,until\n'

const fixAt = (seconds: number, latitude = 52.5): Fix => {
  return {
    time: seconds * 1000,
    latitude,
    longitude: 13.4,
    valid: true,
    speed: 10,
    heading: 90,
    hdop: 1,
    satellites: 9,
  }
}

let product: Product

beforeAll(async () => {
  const ignored = 'companies: []\nroutes: none\n'
  product = await startProduct({ 'devices.yaml': DEVICES, 'routes.csv': ROUTES, 'tracking.yaml': ignored })
})
afterAll(async () => void (await product.end()))

async function arrives(route: string, timestamp: number, latitude = 52.5): Promise<void> {
  await expect
    .poll(() => product.positions(route, timestamp, timestamp), soon)
    .toMatchObject([{ timestamp, lat: expect.closeTo(latitude, 4), lon: expect.closeTo(13.4, 4) }])
}

async function login(id: string) {
  const line = await dial(product.ports['tcp/teltonika'])
  line.socket.write(teltonika.login!(id).bytes)
  await expect.poll(() => line.answered().length, soon).toBe(1)
  return line
}

it('a Teltonika fix over TCP is acknowledged and delivered', async () => {
  const line = await login('356307042441013')
  line.socket.write(teltonika.packet([fixAt(START), fixAt(START + 1)], SENDER).bytes)
  await expect.poll(() => line.answered().toString('hex'), soon).toBe('0100000002')
  await arrives('101', START)
  await arrives('101', START + 1)
})

it('a GT06 fix is acknowledged and delivered', async () => {
  const line = await dial(product.ports['tcp/gt06'])
  line.socket.write(gt06.login!('356307042441021').bytes)
  await expect.poll(() => line.answered().length, soon).toBe(10)
  line.socket.write(gt06.packet([fixAt(START)], SENDER).bytes)
  await arrives('102', START)
})

it('a Wialon IPS fix is acknowledged and delivered', async () => {
  const line = await dial(product.ports['tcp/wialon'])
  line.socket.write(wialon.login!('356307042441039').bytes)
  await expect.poll(() => line.answered().toString(), soon).toBe('#AL#1\r\n')
  line.socket.write(wialon.packet([fixAt(START)], SENDER).bytes)
  await expect.poll(() => line.answered().toString(), soon).toBe('#AL#1\r\n#AD#1\r\n')
  await arrives('103', START)
})

it('an OsmAnd fix over HTTP is acknowledged and delivered only with the token of the device', async () => {
  const send = async (token: string) => {
    const query = `id=356307042441047&lat=52.5&lon=13.4&timestamp=${START}&token=${token}`
    return (await fetch(`http://127.0.0.1:${product.ports['http/osmand']}/?${query}`)).status
  }
  expect(await send('wrong')).toBe(403)
  expect(await send('canary-device')).toBe(200)
  await arrives('104', START)
})

it('an H02 fix is acknowledged and delivered, with ids of 19 digits kept exactly', async () => {
  const line = await dial(product.ports['tcp/h02'])
  line.socket.write(h02.packet([fixAt(START)], { ...SENDER, id: '5678901' }).bytes)
  await arrives(BIG, START)
})

it('an MQTT fix as JSON under its own topic is acknowledged and delivered', async () => {
  const url = `mqtt://127.0.0.1:${product.ports.mqtt}`
  const client = await connectAsync(url, { username: '356307042441062', password: 'canary-device' })
  await client.publishAsync('devices/356307042441062/fix', JSON.stringify({ lat: 52.5, lon: 13.4, timestamp: START }), {
    qos: 1,
  })
  await client.endAsync()
  await arrives('106', START)
})

it('the product ignores tracking.yaml, and says so once', () => {
  expect(product.said().split(`${product.dir}/tracking.yaml: only \`waybridge tracking\``).length - 1).toBe(1)
})

it('a changed line of routes.csv takes effect soon, by the time of the fix', async () => {
  const line = await login('356307042441070')
  const from = new Date((START + 600) * 1000).toISOString()
  const until = new Date((START + 1200) * 1000).toISOString()
  await product.write('routes.csv', `${ROUTES}Van 7,70,700,${from},${until}\n`)
  let time = START + 600
  const isInEffect = async () => {
    line.socket.write(teltonika.packet([fixAt(++time)], SENDER).bytes)
    return (await product.positions('700', START + 600, time)).length > 0
  }
  // This takes a second on an idle machine.
  await expect.poll(isInEffect, { timeout: 10_000, interval: 100 }).toBe(true)
  line.socket.write(teltonika.packet([fixAt(START + 599), fixAt(START + 600), fixAt(START + 1200)], SENDER).bytes)
  await arrives('107', START + 599)
  await arrives('700', START + 600)
  await arrives('107', START + 1200)
  expect(line.closed()).toBe(false)
})

it('the product acknowledges nothing while Redis is down, and continues on the same connection afterwards', async () => {
  const redis = product.redisPid()!
  process.kill(redis, 'SIGSTOP')
  const line = await dial(product.ports['tcp/teltonika'])
  line.socket.write(
    Buffer.concat([teltonika.login!('356307042441088').bytes, teltonika.packet([fixAt(START)], SENDER).bytes]),
  )
  await expect.poll(async () => (await product.admin<{ ok: boolean }>('/readyz')).ok, soon).toBe(false)
  expect([line.answered().length < 5, line.closed()]).toEqual([true, false])
  process.kill(redis, 'SIGKILL')
  await expect.poll(() => line.answered().toString('hex'), { timeout: 60_000 }).toBe('0100000001')
  await arrives('108', START)
})

it.each(['gateway', 'worker', 'tracking', 'admin'].entries().toArray())(
  'a killed process is restarted: %i %s',
  async (index, role) => {
    const [pid] = product.pidsOf(role)
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => product.pidsOf(role).filter((each) => each !== pid).length, soon).toBe(1)
    const time = START + 2000 + index
    await expect
      .poll(async () => {
        const line = await dial(product.ports['tcp/teltonika']).catch(() => undefined)
        line?.socket.write(
          Buffer.concat([teltonika.login!('356307042441013').bytes, teltonika.packet([fixAt(time)], SENDER).bytes]),
        )
        await expect.poll(() => !line || line.answered().length === 5 || line.closed(), soon).toBe(true)
        return line?.answered().toString('hex')
      }, soon)
      .toBe('0100000001')
    await expect.poll(() => product.positions('101', time, time).catch(() => []), { timeout: 60_000 }).toHaveLength(1)
  },
)

it('the product runs one tracking service for each data folder, even after it was killed', async () => {
  const dataDir = join(product.dir, 'data')
  const settings = `data_dir: ${dataDir}\nlisten: { port: 0 }\nmonitor: { port: 0 }\n`
  const dir = await folder({ 'tracking.yaml': settings })
  expect(await waybridgeProcess(['tracking', '--config', dir])).toEqual({
    code: 1,
    out: '',
    errors: `Another tracking service is running on ${dataDir}: end it, or choose another data_dir.\n`,
  })
  expect(await product.positions('101', START, START)).toHaveLength(1)
})

it('the account of all fixes has a difference of 0 when no fix is moved', async () => {
  await expect
    .poll(async () => (await product.admin<{ custody: { waiting: number } }>('/admin/status')).custody.waiting, soon)
    .toBe(0)
  const { custody } = await product.admin<{ custody: Record<string, number> }>('/admin/status')
  expect(custody.difference).toBe(0)
  expect(custody.delivered).toBeGreaterThan(10)
})

it('the product keeps its data folder from other users', () => {
  const data = join(product.dir, 'data')
  const names = ['', ...readdirSync(data, { recursive: true, encoding: 'utf8' })]
  // A file that is being replaced, such as ports.json, has another name for a moment.
  const modeOf = (name: string) => lstatSync(join(data, name), { throwIfNoEntry: false })?.mode ?? 0
  const open = names.filter((name) => (modeOf(name) & 0o077) !== 0)
  expect(names).toEqual(expect.arrayContaining(['admin-token', 'ports.json', 'tracking.sqlite', 'redis/redis.sock']))
  expect(open).toEqual([])
})

it('the product passes the health check of the container', async () => {
  // The admin process has restarted.
  await expect.poll(healthCheck, soon).toEqual([0, '{"ok":true,"problems":[]}'])
})

it('a new token for metrics takes effect without a restart, unlike other settings of the admin port', async () => {
  const gateway = await product.read('gateway.yaml')
  const statusWith = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`http://127.0.0.1:${product.ports.admin}/metrics`, { headers })).status
  }
  expect(await statusWith('canary-none')).toBe(200)
  for (const token of ['canary-metrics-1', 'canary-metrics-2']) {
    const admin = `admin: { port: 0, behind_proxy: true, metrics_token: ${token} }`
    await product.write('gateway.yaml', gateway.replace('admin: { port: 0 }', admin))
    await expect.poll(() => statusWith(token), soon).toBe(200)
    await expect.poll(() => statusWith('canary-none'), soon).toBe(401)
  }
  expect(await statusWith('canary-metrics-1')).toBe(401)
  await expect.poll(() => product.said(), soon).toContain('"admin.behind_proxy: takes effect at the next start"')
  await product.write('gateway.yaml', gateway)
  await expect.poll(() => statusWith('canary-none'), soon).toBe(200)
})

it('a flood of requests for the metrics does not raise the memory of the supervisor', async () => {
  const [supervisor] = product.pidsOf('start')
  const metrics = async () => (await fetch(`http://127.0.0.1:${product.ports.admin}/metrics`)).text()
  await metrics()
  const before = residentBytes(supervisor)
  for (let round = 0; round < 5; round++)
    await Promise.all(Array.from({ length: 8 }, () => flood(product.ports.admin, FLOOD)))
  await expect.poll(metrics).toContain('waybridge_refused_total{reason="pipelining"} 40')
  expect(residentBytes(supervisor) - before).toBeLessThan(64 * 1024 * 1024)
})

it('a SIGTERM ends everything with exit code 0, without a remaining process or a secret in any output', async () => {
  const said = product.said()
  const { dir } = product
  expect(await product.end()).toBe(0)
  expect([product.redisPid(), ...product.pidsOf('gateway'), ...product.pidsOf('worker')]).toEqual([undefined])
  expect(existsSync(dir)).toBe(false)
  for (const canary of ['canary-apikey', 'canary-oauth', 'canary-device', 'canary-metrics'])
    expect(said).not.toContain(canary)
})

/** Sends bytes on its own connection, without reading, for as long as possible; resolves when the connection ends. */
async function flood(port: number, bytes: string): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(bytes, () => socket.resume())
  await new Promise((resolve) => socket.once('close', resolve))
}

/** Returns the exit code and the output of a process. */
function healthCheck(): [number | null, string] {
  const { status, stdout } = spawnSync(process.execPath, [HEALTH, join(product.dir, 'data')], { encoding: 'utf8' })
  return [status, stdout]
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}

/** 255 KB of requests for the metrics. */
const FLOOD = 'GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(7500)
const HEALTH = join(import.meta.dirname, '../../docker/health.mjs')
const SENDER = { id: '356307042441013', serial: 1 }
