import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import gt06 from '../../protocols/gt06/index.ts'
import { createFleet, devicesYaml, type FleetVan } from '../../src/sandbox/fleet.ts'
import { runSimulation } from '../../src/sandbox/simulation.ts'
import { speeches } from '../../src/sandbox/speak/index.ts'
import { ok, startApi, type TestApi } from '../rig/api.ts'
import { type Product, startProduct } from '../rig/product.ts'
import { connected } from '../support/admin.ts'
import { webhookReceiver } from '../support/alerts.ts'
import { chromiumOptions, findChromium } from '../support/browser.ts'
import { CertificateMaker } from '../support/certificates.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'
import { type OldServer, openOldServer } from '../support/old-server.ts'
import { mountTmpfs } from '../support/tmpfs.ts'

/** `waybridge start` with vans that drive, a Redis and a tracking API, all of which can be broken, and who is told of it. */
export interface Site {
  readonly product: Product
  readonly api: TestApi
  readonly redis: TestRedis
  readonly certificates: CertificateMaker
  readonly webhook: Awaited<ReturnType<typeof webhookReceiver>>
  /** Where a listener has one: `tcp/gt06#2`. */
  readonly oldServer: OldServer | undefined
  /** The view Now in a browser; undefined if there is none. */
  readonly page: Page | undefined
  /** By `performance.now()`. */
  readonly startedAt: number
  /** Ends all vans but the last at once; returns how they go on. */
  halt(): () => void
  /** Runs one command on its Redis. */
  command(...words: string[]): Promise<unknown>
  close(): Promise<void>
}

/** A device with a secret, which sends by OsmAnd. */
export const GUARDED = { id: '356307042441900', secret: 'canary-secret' }
/** Devices without a secret, which send as the faults have them. */
export const OWN = [
  '356307042441901',
  '356307042441902',
  '356307042441903',
  '356307042441904',
  '356307042441905',
  '356307042441906',
  '356307042441907',
  '356307042441908',
  '356307042441909',
  '356307042441910',
  '356307042441911',
  '356307042441912',
  '356307042441913',
  '356307042441914',
  '356307042441915',
] as const
/** Vans that fall silent together. */
export const WAVES = Array.from({ length: 36 }, (_, index) => `3563070424420${String(index).padStart(2, '0')}`)
/** Trackers whose ids have a slip in devices.yaml; what is not typed wrong is the id of another one of their box. */
export const TYPED = {
  swapped: { id: '356307042450139', typed: '356307042451039' },
  wrong: { id: '356307042460120', typed: '356307042467120' },
  missing: { id: '356307042470152', typed: '35630704270152' },
  neighbour: { id: '356307042480102', typed: '356307042480110' },
} as const
/** Of which the files say nothing at first. */
export const STRANGER = '356307042441980'
export const UNROUTED = '356307042441981'

const SPEECHES = ['teltonika', 'gt06'].flatMap((name) => speeches.find(({ protocol }) => protocol === name) ?? [])
/** The first vans that drive. */
export const FLEET = createFleet(4, SPEECHES).map(({ id }) => id)
/** The vans of the site that has more. */
export const LARGE_FLEET = createFleet(20, SPEECHES).map(({ id }) => id)

/**
 * A site whose product is on a small disk of its own, with its private Redis; undefined if this process may not mount one.
 */
export async function startSiteOnDisk(): Promise<Site | undefined> {
  const disk = await mkdtemp(join(tmpdir(), 'waybridge-disk-'))
  if (!mountTmpfs(disk, DISK_BYTES)) return undefined
  const before = process.env.TMPDIR
  process.env.TMPDIR = disk
  const site = await startSite({ hasOwnRedis: false })
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
  return {
    ...site,
    async close() {
      await site.close()
      execFileSync('umount', [disk])
      await rm(disk, { recursive: true })
    },
  }
}

/** `listeners`: lines of further ones; `hasTrial`: one more, with an old server; `isBounded`: whether all bounds are low. */
export async function startSite({
  vans: count = FLEET.length,
  yaml = '',
  listeners = '',
  hasOwnRedis = true,
  isSecure = false,
  hasTrial = false,
  isBounded = false,
} = {}): Promise<Site> {
  const oldServer = hasTrial ? await openOldServer(gt06) : undefined
  const certificates = await CertificateMaker.create()
  const authority = await certificates.authority('authority')
  const tls = isSecure ? await certificates.server('api', { by: authority }) : undefined
  const [api, redis, webhook] = await Promise.all([
    startApi(ok, { answersReads: true, tls }),
    startTestRedis(),
    webhookReceiver(),
  ])
  const { files: broker } = await certificates.server('broker')
  const vans = createFleet(count, SPEECHES)
  const devices = [GUARDED.id, ...OWN].map((id, index) => {
    const secret = id === GUARDED.id ? `, secret: ${GUARDED.secret}` : ''
    return `"${id}": { name: Own ${index}, company_id: 7, courier_id: ${50 + index}, route_id: ${2050 + index}${secret} }\n`
  })
  const waves = WAVES.map(
    (id, index) =>
      `"${id}": { name: Wave ${index}, company_id: 7, courier_id: ${150 + index}, route_id: ${2150 + index} }\n`,
  )
  const typed = Object.values(TYPED).map(
    (each, index) =>
      `"${each.typed}": { name: Typed ${index}, company_id: 7, courier_id: ${250 + index}, route_id: ${2250 + index} }\n`,
  )
  const files = { 'devices.yaml': devicesYaml(vans, '7') + [...devices, ...waves, ...typed].join('') }
  const told = `
alerts: { flap: 1s, webhooks: [{ url: "${webhook.url}", min_severity: info }${isBounded ? `, { url: "${api.url}/alerts", min_severity: info }` : ''}] }
mqtt: { broker: { host: 127.0.0.1, port: 0, tls_port: 0, tls: { cert: "${broker.cert}", key: "${broker.key}" } } }
`
  const trust = `", tls: { ca: "${authority.files.cert}" } }`
  const common = settings({ api, redis }).replace(
    isSecure ? /(base_url: .*)" }/ : /$^/,
    (_, url: string) => url + trust,
  )
  const own = hasOwnRedis ? common : common.replace(/^redis: .*\n/m, '')
  const bounded = isBounded ? own.replace(/^push:.*\n/m, LOW_BOUNDS) : own
  const trial = oldServer
    ? `  - { transport: tcp, protocol: gt06, port: 0, host: 127.0.0.1, trial: { host: 127.0.0.1, port: ${oldServer.port} } }\n`
    : ''
  const product = await startProduct(files, listeners + trial + bounded + told + yaml)
  const end = new AbortController()
  const startedAt = performance.now()
  let most = new AbortController()
  const go = () => drive(product, vans.slice(0, -1), AbortSignal.any([end.signal, most.signal]))
  const driving = [drive(product, vans.slice(-1), end.signal), go()]
  const connection = await connected(redis.url)
  const page = await openPage(product)
  return {
    product,
    api,
    redis,
    certificates,
    webhook,
    oldServer,
    page,
    startedAt,
    halt() {
      most.abort()
      return () => {
        most = new AbortController()
        driving.push(go())
      }
    },
    command: (name, ...words) => connection.call(name, ...words),
    async close() {
      end.abort()
      await Promise.all([...driving, page?.context().browser()?.close()])
      connection.disconnect()
      await product.end()
      webhook.close()
      await Promise.all([api.close(), redis.stop(), certificates.remove(), oldServer?.stop()])
    },
  }
}

/** What all machines of a site have in gateway.yaml. */
export function settings({ api, redis }: Pick<Site, 'api' | 'redis'>): string {
  return `
redis: { url: "${redis.url}" }
tracking: { base_url: "${api.url}" }
push: { max_delay: 3s }
workers: 2
`
}

async function openPage(product: Product): Promise<Page | undefined> {
  if (!findChromium()) return undefined
  const browser = await chromium.launch(chromiumOptions())
  const page = await browser.newPage()
  const token = (await product.read('data/admin-token')).trim()
  await page.goto(`http://127.0.0.1:${product.ports.admin}/#token=${token}`)
  return page
}

function drive({ ports }: Product, vans: readonly FleetVan[], hurry: AbortSignal): Promise<unknown> {
  const tour = { host: '127.0.0.1', ports, vans, intervalMs: 1000, durationMs: LONGEST_MS, seed: 1 }
  return runSimulation({ ...tour, patienceMs: 0, hurry })
}

/** So low that a few devices, positions and connections reach them. */
const LOW_BOUNDS = `
push: { max_delay: 3s, concurrency: 1 }
hold: { max_unknown_devices: 20, max_fixes_per_device: 3, max_age: 30s }
parked: { max_positions: 5 }
limits: { max_connections: 60, max_connections_per_device: 1 }
keep: { max_memory: 0.001 }
`
/** Twice as much as must be free. */
const DISK_BYTES = 512 * 1_048_576
/** Vans that were forgotten would drive for ever. */
const LONGEST_MS = 3_600_000
