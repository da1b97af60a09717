import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { RedisGroup } from '../rig/redis-group.ts'
import { findProgram, type Program } from '../support/debian-program.mjs'
import { freePorts } from '../support/free-ports.ts'
import { startShippedHaproxy } from '../support/haproxy.ts'
import { temporaryDir } from '../support/running.ts'
import { ROOT } from '../support/structure/sources.ts'

const DOCKER = join(ROOT, 'docker')
/** Offset that is added to the shipped ports, which a real product may use. */
const SHIFT = 21_000
const VANS = ['356307042441013', '356307042441021']
const VAN_HOST = '127.0.0.77'
const HOSTS = { haproxy: '127.0.0.10', 'gateway-1': '127.0.0.11', 'gateway-2': '127.0.0.12', tracking: '127.0.0.20' }
const PASSWORD = 'several-password'
const SOON = { timeout: 100_000, interval: 100 }

let haproxy: Program | undefined
beforeEach(async ({ skip }) => {
  haproxy = await findProgram('haproxy')
  skip(!haproxy, 'there is no haproxy, and apt cannot fetch it')
})

it('the shipped configuration runs two gateways behind HAProxy, two workers, and Redis with Sentinels', async () => {
  const ports = await freePorts(6)
  const machines = [0, 2, 4].map((at) => ({ host: '127.0.0.1', port: ports[at], sentinelPort: ports[at + 1] }))
  const redis = await RedisGroup.start({ machines, password: PASSWORD })
  onTestFinished(() => redis.stop())
  const site = await prepareSite(machines.map(({ host, sentinelPort }) => `${host}:${sentinelPort}`))
  await site.run('tracking', HOSTS.tracking)
  await site.run('admin', '127.0.0.21')
  const gateways = [await site.run('gateway', HOSTS['gateway-1']), await site.run('gateway', HOSTS['gateway-2'])]
  await Promise.all([site.run('worker', '127.0.0.13'), site.run('worker', '127.0.0.14')])
  const places = { BIND: HOSTS.haproxy, GATEWAY_1: HOSTS['gateway-1'], GATEWAY_2: HOSTS['gateway-2'] }
  await startShippedHaproxy(haproxy!, { shift: SHIFT, places })

  const connections: Socket[] = []
  for (const [index, id] of VANS.entries()) {
    const van = await site.drive(id)
    connections.push(van.socket)
    await van.send(1)
    const remote = async () => (await site.admin<Contact>(`/admin/devices/${id}`)).connection?.remote
    await expect.poll(remote, SOON).toBe(`${VAN_HOST}:${van.socket.localPort}`)
    await expect.poll(() => site.delivered(), SOON).toBe(index + 1)
  }

  // Each gateway has one van; the van of the killed gateway reconnects to the other one.
  const closed = connections.map((socket) => once(socket, 'close').then(() => true))
  gateways[0].kill('SIGKILL')
  await Promise.race(closed)
  const lost = connections.findIndex((socket) => socket.closed)
  expect(connections.filter((socket) => socket.closed)).toHaveLength(1)
  const again = await site.drive(VANS[lost])
  await again.send(2)
  await expect.poll(() => site.delivered(), SOON).toBe(3)
}, 240_000)

interface Contact {
  readonly connection?: { readonly remote: string }
}

/** Makes a folder with the shipped files for these ports; its processes run until the test ends. */
async function prepareSite(sentinels: readonly string[]) {
  const dir = await temporaryDir()
  const config = join(dir, 'config')
  await cp(join(DOCKER, 'several'), config, { recursive: true })
  const gateway = (await readFile(join(config, 'gateway.yaml'), 'utf8'))
    .replaceAll(/(port: |_PORT:-)(\d{4})/g, (_, before: string, port: string) => before + (Number(port) + SHIFT))
    .replace('companies: []', 'companies: [{ company_id: 7, apikey: several-key, oauth_token: several-token }]')
  await writeFile(join(config, 'gateway.yaml'), gateway)
  const devices = VANS.map((id, at) => `"${id}": { company_id: 7, courier_id: ${at + 1}, route_id: ${at + 1} }\n`)
  await writeFile(join(config, 'devices.yaml'), devices.join(''))
  const token = 'several-admin-token-0123456789'
  const admin = async <Answer>(path: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await (await fetch(`http://127.0.0.21:${8080 + SHIFT}${path}`, { headers })).json()) as Answer
  }
  const base = {
    ...process.env,
    ...Object.fromEntries(sentinels.map((address, at) => [`SENTINEL_${at + 1}`, address])),
    REDIS_PASSWORD: PASSWORD,
    ADMIN_TOKEN: token,
    PROXY_NETWORK: '127.0.0.0/24',
    TRACKING_URL: `http://${HOSTS.tracking}:${8090 + SHIFT}`,
  }
  return {
    admin,
    delivered: async () => (await admin<{ custody: { delivered: number } }>('/admin/status')).custody.delivered,
    /** Starts a role; resolves when the health check of its container succeeds. */
    async run(role: string, bindHost: string): Promise<ChildProcess> {
      const cwd = join(dir, bindHost)
      await mkdir(cwd)
      const args = [join(ROOT, 'src/cli/index.ts'), role, '--config', config]
      const child = spawn(process.execPath, args, { cwd, env: { ...base, BIND_HOST: bindHost }, stdio: 'inherit' })
      onTestFinished(() => void child.kill('SIGKILL'))
      const ready = async () => (await fetch(`http://${bindHost}:${9464 + SHIFT}/readyz`)).status
      await expect.poll(() => ready().catch(() => 0), SOON).toBe(200)
      return child
    },
    /** Connects a van to HAProxy and logs it in; `send` resolves when its fix is acknowledged. */
    async drive(id: string) {
      // An abandoned connection would count at its gateway, so that HAProxy chooses the other one.
      const logIn = async () => {
        const socket = connect({ host: HOSTS.haproxy, port: 5027 + SHIFT, localAddress: VAN_HOST })
        socket.on('error', () => {})
        const answered = once(socket, 'data')
        const closed = once(socket, 'close')
        socket.write(teltonika.login!(id).bytes)
        const [answer] = await Promise.race([answered, closed])
        return Buffer.isBuffer(answer) ? socket : undefined
      }
      let socket: Socket | undefined
      await expect.poll(async () => (socket = await logIn().catch(() => undefined)) !== undefined, SOON).toBe(true)
      onTestFinished(() => void socket?.destroy())
      return {
        socket: socket!,
        async send(serial: number): Promise<void> {
          const time = Math.floor(Date.now() / 1000) * 1000
          const fix = { time, latitude: 52.5, longitude: 13.4 + serial / 1000, valid: true, satellites: 9 }
          const answered = once(socket!, 'data')
          socket!.write(teltonika.packet([fix], { id, serial }).bytes)
          expect((await answered)[0]).toEqual(Buffer.from([0, 0, 0, 1]))
        },
      }
    },
  }
}
