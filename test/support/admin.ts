import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import { type Admin, type AdminOptions, openAdmin } from '../../src/admin/index.ts'
import { everySecond } from '../../src/async.ts'
import { apiName } from '../../src/domain/addresses.ts'
import type { StatusJson } from '../../src/admin/schemas/status.ts'
import { EVERYTHING } from '../../src/admin/scope.ts'
import type { Role } from '../../src/process/role.ts'
import { startAdmin } from '../../src/process/roles/admin.ts'
import { followConfig, type Live } from '../../src/process/roles/live.ts'
import { readPayload } from '../../src/gateway/mappings.ts'
import { PushStatistics } from '../../src/push/figures.ts'
import {
  connect,
  type HoldReason,
  keys,
  Leases,
  Appender,
  packDevice,
  packRecords,
  type Shard,
  type Store,
  type RedisServer,
  type RefusalReason,
  type Storable,
  signOn,
  jobFaults,
} from '../../src/store/index.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { UNFILTERED } from './appending.ts'
import { startTestRedis, type TestRedis } from './redis.ts'
import { createDirectory } from './roster.ts'

/** The token that the fixture's configuration has. */
export const TOKEN = 'canary-admin-token'

/** The one that may only read. */
export const READ_TOKEN = 'canary-read-token'

/** Where no tracking API is. */
export const NOWHERE = 'http://127.0.0.1:1'

export const DEVICES = `
"0356307042441013": { name: Van 12, company_id: 7, courier_id: 42, route_id: 1001, secret: canary-secret, model: FMB920 }
"356307042441014": { name: Van 14, company_id: 7, courier_id: 43, time_zone: "+03:00" }
van/15: { company_id: 7, courier_id: 9223372036854775807, route_id: 9007199254740993 }
`

/** Where a line of routes.csv has Van 14. */
export const VAN_14_LANE = {
  company_id: '7',
  courier_id: '43',
  route_id: '2001',
  from_at: '2020-01-01T00:00:00.000Z',
  until_at: '2120-01-01T00:00:00.000Z',
  source: 'routes.csv:2',
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: unknown
}

export interface AdminFixture {
  readonly server: TestRedis
  readonly redis: Store
  readonly dir: string
  readonly url: string
  readonly live: Live
  /** Asks with the token, unless `headers` say otherwise. */
  ask(path: string, options?: RequestInit): Promise<Answer>
}

/**
 * A real Redis, emptied before each test, and the admin role on a configuration folder of its own. `gateway`: in place of the
 * tokens; `companies`, `devices`, `routes`: beside those of company 7.
 */
export function adminFixture({ baseUrl = NOWHERE, shards = 1, ...more }: FixtureOptions = {}): AdminFixture {
  const all = {} as { server: TestRedis; redis: Store; dir: string; url: string; live: Live; role: Role }

  beforeAll(async () => {
    all.server = await startTestRedis()
    const redisServer = { url: all.server.url, shards }
    all.redis = await connected(redisServer)
    all.dir = await configFolder(all.server.url, more)
    all.live = await followConfig({ dir: all.dir, protocols: protocolPorts, role: 'admin', followsFiles: true })
    all.role = await startAdmin(all.live, { redisServer, baseUrl: async () => baseUrl, ports: {} })
    all.url = `http://127.0.0.1:${all.role.ports?.admin}`
    await vi.waitFor(async () => expect((await ask(`${all.url}/readyz`)).status).toBe(200), { timeout: 60_000 })
  })
  afterAll(async () => {
    await all.role.close()
    all.redis.disconnect()
    await all.server.stop()
    await rm(all.dir, { recursive: true })
  })
  beforeEach(async () => {
    // A test before may have ended the server.
    await vi.waitFor(() => expect(all.redis.status).toBe('ready'), { timeout: 60_000 })
    await all.redis.flushall()
    // The roster is written again: that of the files.
    await vi.waitFor(async () => all.live.catchUp(), { timeout: 60_000 })
    await vi.waitFor(() => expect(all.live.complete).toBe(true), { timeout: 60_000 })
  })

  return {
    get server() {
      return all.server
    },
    get redis() {
      return all.redis
    },
    get dir() {
      return all.dir
    },
    get url() {
      return all.url
    },
    get live() {
      return all.live
    },
    ask: (path, options) => ask(all.url + path, { headers: { authorization: `Bearer ${TOKEN}` }, ...options }),
  }
}

/** Has a gateway and a worker live in each test: once the admin port has watched for ten seconds, they would be missed. */
export function withProcesses(admin: AdminFixture): void {
  let signs: ReturnType<typeof signOn>[]

  beforeEach(async () => {
    const pushes = new PushStatistics()
    const figures = { gateway: () => ({}), worker: () => ({ ...pushes.figures(), url: NOWHERE }) }
    const roles = ['gateway', 'worker'] as const
    signs = roles.map((role) => signOn(admin.redis, { role, installation: admin.dir }, figures[role]))
    await vi.waitFor(
      async () => {
        const { findings, vans } = (await admin.ask('/admin/status')).json as Pick<StatusJson, 'findings' | 'vans'>
        expect(findings.map(({ code }) => code).filter((code) => /^no_(gateway|worker)$/.test(code))).toEqual([])
        // After its first look, what a test writes of earlier times is not from before its gateway.
        expect(Math.max(...Object.values(vans))).toBeGreaterThan(0)
      },
      { timeout: 60_000 },
    )
  })
  afterEach(async () => void (await Promise.all(signs.map((sign) => sign.stop()))))
}

export async function connected(server: RedisServer): Promise<Store> {
  const redis = connect(server, 'test')
  await Promise.all(redis.shards.map((shard) => new Promise((resolve) => shard.once('ready', resolve))))
  return redis
}

type FixtureOptions = FixtureFiles & { readonly baseUrl?: string; readonly shards?: number }
type FixtureFiles = Partial<Readonly<Record<'gateway' | 'companies' | 'devices' | 'routes', string>>>

async function configFolder(
  redisUrl: string,
  { gateway = '', companies = '', devices = '', routes = '' }: FixtureFiles,
): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-admin-'))
  const yaml = `
redis: { url: "${redisUrl}" }
data_dir: "${join(dir, 'data')}"
companies: [{ company_id: 7, apikey: canary-apikey, oauth_token: canary-oauth }${companies}]
log: { level: fatal }
${gateway || `admin: { port: 0, tokens: [another-token, ${TOKEN}, { token: ${READ_TOKEN}, role: read }] }`}
`
  await writeFile(join(dir, 'gateway.yaml'), yaml)
  await writeFile(join(dir, 'devices.yaml'), DEVICES + devices)
  await writeFile(
    join(dir, 'routes.csv'),
    'device,courier_id,route_id,from,until\nVan 14,,2001,2020-01-01 00:00,2120-01-01 00:00\n' + routes,
  )
  return dir
}

async function ask(url: string, options?: RequestInit): Promise<Answer> {
  const response = await fetch(url, options)
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Stores `count` fixes of a lane, of a device that nobody configured, received at `receivedAt` (ms UTC), and `filtered`. */
export async function store(
  redis: Store,
  lane: string,
  {
    count = 1,
    device = '1',
    receivedAt = Date.now(),
    filtered = [],
  }: { count?: number; device?: string; receivedAt?: number; filtered?: string[] } = {},
): Promise<void> {
  const records = packed(device, { count, receivedAt, time: 1_763_626_442_000 })
  await append(redis, { parts: [{ lane, device, records }], received: count + filtered.length, filtered })
}

/** Holds `count` fixes of a device by the roster in effect, measured at `time` and received at `receivedAt`, ms UTC. */
export async function hold(
  redis: Store,
  held: HoldReason,
  device: string,
  { count = 1, receivedAt = Date.now(), time }: { count?: number; receivedAt?: number; time?: number } = {},
): Promise<void> {
  const records = packed(device, { count, receivedAt, time: time ?? receivedAt })
  const rosterVersion = Number((await redis.get(keys.roster('version'))) ?? 0)
  await append(redis, {
    parts: [{ held, device, records, isProven: true, lookAt: Number.MAX_SAFE_INTEGER, rosterVersion }],
    received: count,
    filtered: [],
  })
}

interface Packed {
  readonly count: number
  readonly receivedAt: number
  readonly time: number
}

function packed(device: string, { count, receivedAt, time }: Packed): Buffer {
  const position = { timestamp: Math.floor(time / 1000), latitude: 52.5, longitude: 13.4, accuracy: 5 }
  const positions = Array.from({ length: count }, () => position)
  return packRecords(positions, packDevice(device), receivedAt)
}

async function append(redis: Store, item: Storable): Promise<void> {
  const bounds = { maxFixesPerDevice: 100, maxFixesConfigured: 100, maxUnknownDevices: 100 }
  const appender = new Appender(redis, { ...UNFILTERED, hold: bounds })
  await appender.append(item)
  await appender.close()
}

/** Has the service refuse the first `count` records of a lane, one by one. */
export async function refuse(redis: Shard, lane: string, count: number, refusal: RefusalReason): Promise<void> {
  const { leases, lease } = workerOf(redis)
  const leased = await lease(lane)
  for (let n = 0; n < count; n++) await leases.refuse(leased, refusal, 1)
  await leases.done(leased, { count: 0, status: refusal.status, wanted: 0, atOnce: true })
}

/** Leases of batches of two, and a lane's lease, due or not. */
export function workerOf(redis: Shard) {
  const leases = new Leases(redis, { maxPositions: 2, maxWaitMs: 0 })
  return {
    leases,
    lease: async (lane: string) => {
      await redis.zadd(redis.keyNames.schedule, 'XX', 1, lane)
      const lease = (await leases.claim(1)).find((each) => each.lane === lane)
      if (!lease) throw new Error(`no lease of ${lane}`)
      return lease
    },
  }
}

/** For a port of `openBare`: to change something, and to look. */
export const OPERATE = { authorization: 'Bearer canary-operate' }
export const READ = { authorization: 'Bearer canary-read' }

const NO_API = createTrackingClient({ baseUrl: NOWHERE, timeoutMs: 1000, connections: 1 })

/** Opens an admin port on a Redis alone: without devices, companies and a tracking API, and whose roster nobody asks for. */
export async function openBare(
  options: Pick<AdminOptions, 'redis' | 'logger'> & Partial<AdminOptions>,
): Promise<Admin> {
  const directory = await createDirectory([], [])
  const { companies = () => [] } = options
  const admin = await openAdmin({
    setups: async () => [],
    mappings: { ofFile: () => new Map(), read: readPayload },
    isVerified: false,
    redisDir: null,
    isBehindProxy: false,
    tls: null,
    oidc: () => null,
    logsReads: () => false,
    pulls: () => [],
    copies: () => [],
    alerts: () => undefined,
    apis: () => [{ id: '', name: apiName(NOWHERE), companies: companies().map(({ company_id }) => company_id) }],
    listen: { host: '127.0.0.1', port: 0 },
    tokens: () => [
      { token: 'canary-operate', role: 'operate', label: 'admin.tokens[0]', scope: EVERYTHING },
      { token: 'canary-read', role: 'read', label: 'admin.tokens[1]', scope: EVERYTHING },
    ],
    directory: () => directory,
    live: {
      config: { time_zone: 'UTC', keep: { delivered: 0, max_memory: 0.1 }, roster: { redeliver: 'ask', pull: [] } },
      directory: () => directory,
      version: () => 0,
      companies: () => [],
      files: () => undefined,
      follow: () => {},
      catchUp: never,
    },
    place: () => undefined,
    tracking: () => NO_API,
    api: { baseUrl: NOWHERE, pushUrl: null, isEmbedded: true, timeoutMs: 1000 },
    companies: () => [],
    idleMs: 1000,
    readiness: () => Promise.resolve({ ok: true, problems: [] }),
    metrics: () => Promise.resolve(''),
    metricsToken: () => null,
    verify: {
      settings: { share: 0, after: 1000, repair: false },
      keptMs: 0,
      batch: { max_positions: 500, max_wait: 0 },
    },
    ...options,
  })
  const jobs = everySecond(admin.jobs, jobFaults(options.logger))
  return {
    ...admin,
    close() {
      void jobs.stop()
      return admin.close()
    },
  }
}

function never(): never {
  throw new Error('the roster was asked for')
}
