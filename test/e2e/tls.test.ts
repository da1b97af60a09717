import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findRedisServer } from '../../src/process/setup/redis-server.mjs'
import { teltonika } from '../../src/sandbox/speak/teltonika.ts'
import { startApi } from '../rig/api.ts'
import { dial } from '../rig/product.ts'
import { freePorts } from '../support/free-ports.ts'

const ID = '356307042441013'
const PASSWORD = 'canary-redis-pw'
const TIME = Math.floor(Date.now() / 1000) - 60
const soon = { timeout: 60_000, interval: 50 }

const { command, env } = findRedisServer()!
let dir: string
let api: Awaited<ReturnType<typeof startApi>>
let tlsPort: number
let running: ChildProcess[] = []
let said = ''

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'waybridge-tls-'))
  api = await startApi()
  ;[tlsPort] = await freePorts(1)
})
afterAll(async () => {
  for (const child of running.toReversed()) await end(child)
  await api.close()
  await rm(dir, { recursive: true, force: true })
})

describe('Redis with TLS and a password', () => {
  it('a gateway and a worker store and push a fix over Redis with TLS', async ({ skip }) => {
    startRedis()
    await expect.poll(() => READY.test(said) || NO_TLS.test(said), soon).toBe(true)
    skip(NO_TLS.test(said), `${command} was built without TLS`)
    const [port] = await freePorts(1)
    for (const role of ['gateway', 'worker']) await startRole(role, port)
    const line = await dial(port)
    line.socket.write(Buffer.concat([teltonika.login!(ID).bytes, teltonika.packet([FIX], { id: ID, serial: 1 }).bytes]))
    await expect.poll(() => line.answered().toString('hex'), soon).toBe('0100000001')
    await expect.poll(() => api.timestampsOf('42/1001'), soon).toEqual([TIME])
    expect(api.seen[0].apikey).toBe('canary-apikey')
    line.socket.destroy()
  })

  it('a gateway acknowledges nothing if the certificate of Redis is not trusted', async ({ skip }) => {
    skip(NO_TLS.test(said), `${command} was built without TLS`)
    const [port] = await freePorts(1)
    const monitor = await startRole('gateway', port, { trusted: false })
    expect((await fetch(`http://127.0.0.1:${monitor}/readyz`)).status).toBe(503)
    const line = await dial(port)
    line.socket.write(Buffer.concat([teltonika.login!(ID).bytes, teltonika.packet([FIX], { id: ID, serial: 1 }).bytes]))
    const metrics = async () => (await fetch(`http://127.0.0.1:${monitor}/metrics`)).text()
    await expect.poll(metrics, soon).toContain('waybridge_connections{transport="tcp"} 1')
    // A frame waits 30 s for Redis, except while the gateway stops.
    expect(await end(running.at(-1)!)).toBe(0)
    await expect.poll(() => line.closed(), soon).toBe(true)
    expect(line.answered().length).toBeLessThan(5)
    line.socket.destroy()
  })

  it('no process prints the password of Redis', async () => {
    const roles = running.slice(1)
    for (const role of roles.toReversed()) expect(await end(role)).toBe(0)
    expect(said).toContain('"level":"debug"')
    expect(said).not.toContain(PASSWORD)
  })
})

function startRedis(): void {
  const settings = {
    'tls-port': tlsPort,
    'tls-cert-file': CERTIFICATE,
    'tls-key-file': fixture('localhost.key.pem'),
    'tls-ca-cert-file': CERTIFICATE,
    'tls-auth-clients': 'no',
    port: 0,
    bind: '127.0.0.1',
    dir,
    requirepass: PASSWORD,
    appendonly: 'yes',
    appendfsync: 'always',
    'maxmemory-policy': 'noeviction',
    save: '',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  start(command, args, env)
}

/** Resolves to the monitor port of a role when it is ready, or has started if it does not trust Redis. */
async function startRole(role: string, port: number, { trusted = true } = {}): Promise<number> {
  const [monitor] = await freePorts(1)
  const config = join(dir, `${role}-${port}`)
  await mkdir(config)
  await writeFile(join(config, 'gateway.yaml'), gatewayYaml({ config, port, monitor }))
  await writeFile(join(config, 'devices.csv'), `device,company_id,courier_id,route_id\n${ID},7,42,1001\n`)
  const child = start(
    process.execPath,
    [CLI, role, '--config', config],
    trusted ? { NODE_EXTRA_CA_CERTS: CERTIFICATE } : {},
  )
  const path = trusted ? 'readyz' : 'healthz'
  const answered = async () => (await fetch(`http://127.0.0.1:${monitor}/${path}`).catch(() => undefined))?.status
  await expect.poll(async () => child.exitCode ?? (await answered()), soon).toBe(200)
  return monitor
}

function gatewayYaml({ config, port, monitor }: { config: string; port: number; monitor: number }): string {
  return `
redis: { url: "rediss://:${PASSWORD}@localhost:${tlsPort}" }
data_dir: ${join(config, 'data')}
listeners: [{ transport: tcp, port: ${port}, protocol: teltonika, host: 127.0.0.1 }]
mqtt: { broker: null }
tracking: { base_url: "${api.url}" }
companies: [{ company_id: 7, apikey: canary-apikey }]
batch: { max_wait: 100ms }
monitor: { port: ${monitor} }
log: { format: json, level: debug }
`
}

function start(program: string, args: string[], more: Record<string, string>): ChildProcess {
  const child = spawn(program, args, { env: { ...process.env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  running.push(child)
  return child
}

async function end(child: ChildProcess): Promise<number | null> {
  running = running.filter((each) => each !== child)
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  return child.exitCode
}

function fixture(name: string): string {
  return fileURLToPath(new URL(`../support/tracking/${name}`, import.meta.url))
}

const CERTIFICATE = fixture('localhost.cert.pem')
const CLI = fileURLToPath(new URL('../../src/cli/waybridge.mjs', import.meta.url))
const READY = /Ready to accept connections/
/** Output of a server that was built without TLS. */
const NO_TLS = />>> '"?tls-.*\n.*Bad directive/
const FIX = { time: TIME * 1000, latitude: 52.5, longitude: 13.4, valid: true, hdop: 1, satellites: 9 }
