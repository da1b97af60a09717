import { existsSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { socketUrl } from '../../src/process/redis-endpoint.ts'
import { keys, openRedis, positionOf } from '../../src/store/index.ts'
import { memoryShare } from '../../src/store/memory.ts'
import { type AdminPlace, askAdmin, runProduct, type Status, statusOf } from '../rig/product.ts'
import { CertificateMaker } from '../support/certificates.ts'
import { pidsWith, residentBytes } from '../support/processes.ts'
import type { Guard, Victim } from './attacker-connections.ts'
import { HONEST_PLACE, linkOf, type Van } from './honest-links.ts'

/** What is attacked: a running `waybridge start` on this machine. */
export interface Target {
  readonly victim: Victim
  /** Every second one over HTTP and MQTT has a secret. */
  readonly honest: readonly Van[]
  /** Resident memory of the supervisor, gateway and admin process, bytes. */
  memory(): Record<string, number>
  /** `GET /admin/status`. */
  status(): Promise<Status>
  /** Looks into its private Redis; undefined if it has none. */
  redis(): Promise<RedisState | undefined>
  /** Changes the entries of the guarded devices, so that frames that were kept for them are decoded again. */
  touchGuarded(): Promise<void>
  /** Positions that were delivered although nobody may have sent them, in words. */
  wrongPositions(): string[]
  stop(): Promise<void>
}

interface RedisState {
  /** The longest call since it was asked last, ms; 0: none took 10. */
  readonly slowestMs: number
  /** Of its memory. */
  readonly share: number
  /** Held fixes of the device without a route that came over a connection. */
  readonly held: number
  /** Places of the honest vans that are held as if somebody else had sent them. */
  readonly heldOfVans: number
}

/** Ids of guarded devices, which send nothing, and the couriers to whom none of their positions may come. */
const GUARDED: Readonly<Record<Guard, string>> = {
  secret: '370000000000000',
  networks: '370000000000002',
  protocol: '370000000000003',
  client_certificate: '370000000000004',
}
const SECRET = '8c1f0a9d7be24430'
const GUARDED_FROM_COURIER = 900
const ROUTELESS = '370000000000001'
const DELETED = '370000000000009'
const VANS = ids(350_000_000_000_000, 40)
const KNOWN = ids(360_000_000_000_000, 10)
/** The ports of the honest vans, in turn. */
const ROADS = ['tcp/teltonika', 'udp/teltonika', 'http/osmand', 'mqtt', 'tcp/auto', 'udp/auto']

/**
 * Starts the product on a folder of its own, on free ports of loopback, with devices for vans and attackers. `settings`: lines
 * of gateway.yaml by their key.
 */
export async function startTarget(settings: Readonly<Record<string, string>> = {}): Promise<Target> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-attack-'))
  const yaml = Object.entries(settings).reduce((text, [key, value]) => {
    return text.replace(new RegExp(`^${key}:.*$`, 'm'), `${key}: ${value}`)
  }, GATEWAY_YAML)
  await writeFile(join(dir, 'gateway.yaml'), yaml.replaceAll('DIR', dir))
  await writeFile(join(dir, 'openssl.cnf'), '[req]\ndistinguished_name = none\n[none]\n')
  await new CertificateMaker(dir).server('server')
  await writeFile(join(dir, 'devices.yaml'), devices(0))
  const product = await runProduct(dir)
  const { ports } = product
  const honest = honestOn(ports)
  const place = { dataDir: join(dir, 'data'), adminPort: ports.admin, token: TOKEN }
  await leaveTraces(place, ports['tcp/teltonika'])
  let edits = 0
  return {
    victim: {
      ports,
      vans: VANS,
      secretVans: honest.flatMap(({ id, secret }) => (secret === undefined ? [] : [id])),
      known: KNOWN,
      guarded: GUARDED,
      routeless: ROUTELESS,
      rival: { token: RIVAL_TOKEN, company: '8', deleted: DELETED },
    },
    honest,
    memory: () => memoryOf(dir),
    redis: () => redisOf(place.dataDir),
    status: () => statusOf(place),
    touchGuarded: () => writeFile(join(dir, 'devices.yaml'), devices(++edits)),
    wrongPositions: () => wrongPositionsIn(join(place.dataDir, 'tracking.sqlite')),
    stop: async () => void (await product.end()),
  }
}

function ids(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(first + index))
}

function honestOn(ports: Readonly<Record<string, number>>): Van[] {
  return VANS.map((id, index) => {
    const road = ROADS[index % ROADS.length]
    const hasSecret = /^(?:http|mqtt)/.test(road) && Math.floor(index / ROADS.length) % 2 === 0
    return { id, road, port: ports[road], secret: hasSecret ? SECRET : undefined }
  })
}

const SECRETS = honestOn({}).map(({ secret }) => secret)

/** `devices.yaml`, in which the guarded devices have the name of an edit. */
function devices(edit: number): string {
  const plain = [...VANS, ...KNOWN].map((id, index) => {
    const lane = { company_id: '7', courier_id: String(index + 1), route_id: String(index + 1) }
    return [id, { ...lane, secret: SECRETS[index] }]
  })
  const guarded = Object.entries(GUARDED).map(([guard, id], index) => {
    const courier = String(GUARDED_FROM_COURIER + index)
    const lane = { company_id: '7', courier_id: courier, route_id: courier }
    return [id, { ...lane, name: `${guard} ${edit}`, ...PROOFS[guard as Guard] }]
  })
  return JSON.stringify(Object.fromEntries([...plain, ...guarded, [ROUTELESS, { company_id: '7', courier_id: '899' }]]))
}

/** Any position of a guarded device, a place that is not the van's of one with a secret, a van's place of anybody else. */
function wrongPositionsIn(file: string): string[] {
  // The API is somebody else's.
  if (!existsSync(file)) return []
  const { latitude, longitude } = HONEST_PLACE
  const isHonest = `(lat BETWEEN ${latitude} AND ${latitude + 0.01} AND lon = ${longitude})`
  const withSecret = SECRETS.flatMap((secret, index) => (secret === undefined ? [] : [index + 1]))
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database
    .prepare(
      `SELECT company_id AS company, courier_id AS courier, count(*) AS count FROM positions
       WHERE courier_id >= ${GUARDED_FROM_COURIER} OR (courier_id IN (${withSecret.join()}) AND NOT ${isHonest})
       OR (courier_id > ${VANS.length} AND ${isHonest}) GROUP BY 1, 2`,
    )
    .all() as { company: number; courier: number; count: number }[]
  database.close()
  return rows.map(
    ({ company, courier, count }) => `${count} wrong positions of courier ${courier} of company ${company}`,
  )
}

/** A device of company 7 sends a position, and is deleted. */
async function leaveTraces(place: AdminPlace, port: number): Promise<void> {
  await askDevice(place, 'PUT', DELETED, { company_id: '7' })
  const link = await linkOf({ id: DELETED, road: 'tcp/teltonika', port })
  await link.send({ time: Date.now(), ...HONEST_PLACE })
  link.close()
  while (!(await askDevice(place, 'GET', DELETED)).includes('last_heard')) await sleep(100)
  await askDevice(place, 'DELETE', DELETED)
}

async function redisOf(dataDir: string): Promise<RedisState | undefined> {
  const socket = join(dataDir, 'redis', 'redis.sock')
  if (!existsSync(socket)) return undefined
  const redis = openRedis(socketUrl(socket), {})
  const calls = (await redis.slowlog('GET', 128)) as [id: number, at: number, microseconds: number][]
  await redis.slowlog('RESET')
  const share = memoryShare(await redis.info('memory'))
  const held = await redis.llen(keys.held('no_route', ROUTELESS))
  const heldOfVans = await Promise.all(VANS.map((id) => redis.lrangeBuffer(keys.held('suspicious', id), 0, -1)))
  const honest = heldOfVans.flat().filter((record) => positionOf(record).longitude === HONEST_PLACE.longitude)
  redis.disconnect()
  const slowestMs = Math.max(0, ...calls.map(([, , microseconds]) => microseconds)) / 1000
  return { slowestMs, share, held, heldOfVans: honest.length }
}

/** Asks about a device; `body`: the entry to put. */
async function askDevice(place: AdminPlace, method: string, id: string, body?: object): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const answer = await askAdmin(place, `/admin/devices/${id}`, { method, headers, body: body && JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${method} ${id}: ${answer.status} ${await answer.text()}`)
  return answer.text()
}

/** Resident memory by role, bytes. */
function memoryOf(dir: string): Record<string, number> {
  const memory: Record<string, number> = {}
  for (const role of ROLES)
    try {
      for (const pid of pidsWith(dir, role)) memory[role] = residentBytes(pid)
    } catch {
      // It has ended meanwhile.
    }
  return memory
}

const ROLES = ['start', 'gateway', 'worker', 'admin'] as const
const TOKEN = 'b6f0c5d4e1a29387'
const RIVAL_TOKEN = '0d7e92c4a8b15f63'
/** The protocol is no secret, but that of frames which relays could be made to keep. */
const PROOFS: Readonly<Record<Guard, object>> = {
  secret: { secret: SECRET, protocol: 'osmand' },
  networks: { networks: ['192.0.2.0/24'], protocol: 'osmand' },
  protocol: { protocol: 'teltonika' },
  client_certificate: { client_certificate: ['van'], protocol: 'osmand' },
}
const GATEWAY_YAML = `
data_dir: DIR/data
redis: { max_memory: 64mb }
hold: { max_age: 1h }
filter: { suspicious: hold }
listeners:
  - { transport: tcp, port: 0, protocol: teltonika, host: 127.0.0.1 }
  - { transport: udp, port: 0, protocol: teltonika, host: 127.0.0.1 }
  - { transport: tcp, port: 0, protocol: teltonika, host: 127.0.0.1, tls: { cert: DIR/server.pem, key: DIR/server.key } }
  - { transport: tcp, port: 0, protocol: auto, host: 127.0.0.1 }
  - { transport: udp, port: 0, protocol: auto, host: 127.0.0.1 }
  - { transport: http, port: 0, protocol: osmand, host: 127.0.0.1 }
  - { transport: http, port: 0, protocol: flespi, host: 127.0.0.1 }
  - { transport: http, port: 0, protocol: spot, host: 127.0.0.1 }
  - { transport: http, port: 0, protocol: globalstar, host: 127.0.0.1 }
  - { transport: http, port: 0, protocol: valtrack, host: 127.0.0.1 }
  - { transport: udp, port: 0, protocol: ais, host: 127.0.0.1 }
  - { transport: tcp, port: 0, protocol: egts, host: 127.0.0.1 }
mqtt: { broker: { host: 127.0.0.1, port: 0 } }
tracking: { listen: { host: 127.0.0.1, port: 0 } }
companies: [{ company_id: 7, apikey: 52a1c7e09b3f4d68 }, { company_id: 8, apikey: 9e40b7d21c6fa853 }]
admin: { host: 127.0.0.1, port: 0, tokens: [${TOKEN}, { token: ${RIVAL_TOKEN}, name: rival, companies: [8] }] }
log: { level: fatal }
`
