import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryShare } from '../../src/ingest/acceptance.ts'
import { keys, openRedis } from '../../src/lanes/index.ts'
import { socketUrl } from '../../src/process/redis-endpoint.ts'
import { CertificateMaker } from '../support/certificates.ts'
import { CLI, endChild } from '../support/processes.ts'

/** What is attacked: a running `waybridge start` on this machine. */
export interface Target {
  readonly ports: Readonly<Record<string, number>>
  /** Ids of configured devices that the honest vans use, and of some that an attacker knows. */
  readonly vans: readonly string[]
  readonly known: readonly string[]
  readonly guarded: string
  readonly routeless: string
  /** Resident memory of the supervisor, gateway and admin process, bytes. */
  memory(): Record<string, number>
  /** `GET /admin/status`. */
  status(): Promise<TargetStatus>
  /** Looks into its private Redis; undefined where it has none. */
  redis(): Promise<RedisState | undefined>
  stop(): Promise<void>
}

interface RedisState {
  /** The longest call since it was asked last, ms; 0: none took 10. */
  readonly slowestMs: number
  /** Of its memory. */
  readonly share: number
  /** Held fixes of the device without a route that came over a connection. */
  readonly held: number
}

interface TargetStatus {
  readonly custody: { readonly difference: number }
}

const GUARDED = '370000000000000'
const ROUTELESS = '370000000000001'
const VANS = ids(350_000_000_000_000, 40)
const KNOWN = ids(360_000_000_000_000, 10)
const DEVICES = { vans: VANS, known: KNOWN, guarded: GUARDED, routeless: ROUTELESS }

/** Starts the product on a folder of its own, on free ports of loopback, with devices for vans and attackers. */
export async function startTarget(): Promise<Target> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-attack-'))
  await writeFile(join(dir, 'gateway.yaml'), GATEWAY_YAML.replaceAll('DIR', dir))
  await writeFile(join(dir, 'openssl.cnf'), '[req]\ndistinguished_name = none\n[none]\n')
  await new CertificateMaker(dir).server('server')
  await writeFile(join(dir, 'devices.yaml'), devices([...VANS, ...KNOWN]))
  const child = spawn(process.execPath, [CLI, 'start', '--config', dir], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-10_000)))
  const portsFile = join(dir, 'data', 'ports.json')
  while (!existsSync(portsFile)) {
    if (child.exitCode !== null) throw new Error(`start ended with ${child.exitCode}: ${said}`)
    await sleep(50)
  }
  const ports = JSON.parse(readFileSync(portsFile, 'utf8')) as Record<string, number>
  return {
    ports,
    ...DEVICES,
    memory: () => memoryOf(dir),
    redis: () => redisOf(join(dir, 'data')),
    status: () => statusOf(ports.admin, TOKEN),
    async stop() {
      await endChild(child)
      await rm(dir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/**
 * A `waybridge start` that runs on this machine already, by its data folder. Only its ports on 127.0.0.1 are attacked. It gets
 * devices of a company for the time of the attacks, whose fixes go to its tracking API.
 */
export async function attachTarget(dataDir: string, company: string): Promise<Target> {
  const ports = JSON.parse(readFileSync(join(dataDir, 'ports.json'), 'utf8')) as Record<string, number>
  const token = readFileSync(join(dataDir, 'admin-token'), 'utf8').trim()
  const ask = async (method: string, id: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const url = `http://127.0.0.1:${ports.admin}/admin/devices/${id}`
    const answer = await fetch(url, { method, headers, body: body && JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`)
  }
  const all = [...VANS, ...KNOWN, GUARDED, ROUTELESS]
  for (const [index, id] of all.entries()) {
    const lane = id !== ROUTELESS && { courier_id: String(index + 1), route_id: String(index + 1) }
    await ask('PUT', id, { company_id: company, ...lane, ...(id === GUARDED && { secret: SECRET }) })
  }
  return {
    ports,
    ...DEVICES,
    memory: () => memoryOf(),
    redis: () => redisOf(dataDir),
    status: () => statusOf(ports.admin, token),
    async stop() {
      for (const id of all) await ask('DELETE', id)
    },
  }
}

function ids(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(first + index))
}

function devices(plain: readonly string[]): string {
  const lines = plain.map((id, index) => `"${id}": { company_id: 7, courier_id: ${index + 1}, route_id: ${index + 1} }`)
  const guarded = `"${GUARDED}": { company_id: 7, courier_id: 999, route_id: 999, secret: ${SECRET} }`
  return `${[...lines, guarded, `"${ROUTELESS}": { company_id: 7, courier_id: 998 }`].join('\n')}\n`
}

async function redisOf(dataDir: string): Promise<RedisState | undefined> {
  const socket = join(dataDir, 'redis', 'redis.sock')
  if (!existsSync(socket)) return undefined
  const redis = openRedis(socketUrl(socket), {})
  const calls = (await redis.slowlog('GET', 128)) as [id: number, at: number, microseconds: number][]
  await redis.slowlog('RESET')
  const share = memoryShare(await redis.info('memory'))
  const held = await redis.llen(keys.held('no_route', ROUTELESS))
  redis.disconnect()
  return { slowestMs: Math.max(0, ...calls.map(([, , microseconds]) => microseconds)) / 1000, share, held }
}

async function statusOf(port: number, token: string): Promise<TargetStatus> {
  const answer = await fetch(`http://127.0.0.1:${port}/admin/status`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(STATUS_MS),
  })
  if (!answer.ok) throw new Error(`/admin/status: ${answer.status}`)
  return (await answer.json()) as TargetStatus
}

/** By role, the word of the command line that names it; `dir`: another word of it. */
function memoryOf(dir?: string): Record<string, number> {
  const memory: Record<string, number> = {}
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      const role = ROLES.find((name) => words.includes(name))
      if (!role || (dir && !words.includes(dir))) continue
      memory[role] = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
    } catch {
      // It has ended meanwhile.
    }
  return memory
}

const STATUS_MS = 10_000
const ROLES = ['start', 'gateway', 'worker', 'admin'] as const
const TOKEN = 'b6f0c5d4e1a29387'
const SECRET = '8c1f0a9d7be24430'
const GATEWAY_YAML = `
data_dir: DIR/data
redis: { max_memory: 64mb }
hold: { max_age: 1h }
listeners:
  - { transport: tcp, port: 0, protocol: teltonika, host: 127.0.0.1 }
  - { transport: udp, port: 0, protocol: teltonika, host: 127.0.0.1 }
  - { transport: tcp, port: 0, protocol: teltonika, host: 127.0.0.1, tls: { cert: DIR/server.pem, key: DIR/server.key } }
  - { transport: tcp, port: 0, protocol: auto, host: 127.0.0.1 }
  - { transport: udp, port: 0, protocol: auto, host: 127.0.0.1 }
  - { transport: http, port: 0, protocol: osmand, host: 127.0.0.1 }
mqtt: { broker: { host: 127.0.0.1, port: 0 } }
tracking: { listen: { host: 127.0.0.1, port: 0 } }
companies: [{ company_id: 7, apikey: 52a1c7e09b3f4d68 }]
admin: { host: 127.0.0.1, port: 0, tokens: [${TOKEN}] }
log: { level: fatal }
`
