import { type ChildProcess, fork } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPrivateRedis } from '../../../src/process/redis.ts'
import { type Product, runProduct } from '../../rig/product.ts'
import { RedisGroup } from '../../rig/redis-group.ts'
import { startRole } from '../../rig/role.ts'
import { freePorts } from '../../support/free-ports.ts'
import { inspectorOf } from '../../support/inspector.ts'
import { endChild, messageOf, pidsIn } from '../../support/processes.ts'
import { imeiOf } from './codec8.ts'

export interface RigOptions {
  readonly vans: number
  /** How long the API takes to answer, ms. Default: 0. */
  readonly apiDelayMs?: number
  readonly concurrency: number
  readonly keepSamples?: boolean
  /** Of the gateway's listener; absent: the protocol of the vans, Teltonika. */
  readonly protocol?: 'auto'
  /** In place of the private Redis: a primary with two replicas, for so many of which a device's answer waits. */
  readonly replicas?: 0 | 2
  /** Section `copies` of the configuration; absent: none. */
  readonly copies?: string
  /** Whether the gateways and the worker open an inspector; those of `start` only at SIGUSR1. */
  readonly inspect?: boolean
}

/** The product as `start` runs it. */
export interface ProductRigOptions extends RigOptions {
  readonly gateways: number
  /** Default: 1. */
  readonly shards?: number
}

/** The whole road on this machine: Redis, gateway, worker and a minimal API, each a process of its own. */
export interface Rig extends Road {
  readonly port: number
  readonly api: ChildProcess
  /** Positions that the API has answered, and requests. */
  progress(): { readonly positions: number; readonly requests: number }
  /** A counter of the metrics, all labels summed up. */
  metric(name: string): Promise<number>
}

/** What a rig has beside its API. */
interface Road {
  readonly redisUrl: string
  /** Process ids whose CPU time counts, by name; several gateways are numbered. */
  readonly processes: ReadonlyMap<string, number>
  /** Addresses of the inspectors of the gateway and the worker, if `inspect` is set. */
  readonly inspectors: readonly string[]
  /** The port that answers `/metrics`. */
  readonly metricsPort: number
  stop(): Promise<void>
}

interface Places {
  readonly dir: string
  readonly port: number
  readonly apiPort: number
}

/** Starts Redis, gateway and worker alone. */
export function startRig(options: RigOptions): Promise<Rig> {
  return completed(options, (places) => startRoles(options, places))
}

/** Starts `waybridge start`. */
export async function startProductRig(options: ProductRigOptions): Promise<Rig & { readonly product: Product }> {
  let product: Product | undefined
  const rig = await completed(options, async (places) => {
    product = await startWhole(options, places)
    return roadOf(product)
  })
  return { ...rig, product: product! }
}

async function completed(options: RigOptions, start: (places: Places) => Promise<Road>): Promise<Rig> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-bench-'))
  const api = fork(API, [String(options.apiDelayMs ?? 0), options.keepSamples ? 'samples' : ''])
  const [{ port: apiPort }, [port]] = await Promise.all([messageOf<{ port: number }>(api, 'ready'), freePorts(1)])
  const road = await start({ dir, port, apiPort })
  let progress = { positions: 0, requests: 0 }
  api.on('message', (sent: { type: string; positions: number; requests: number }) => {
    if (sent.type === 'progress') progress = sent
  })
  return {
    ...road,
    port,
    processes: new Map([...road.processes, ['api', pidOf(api)]]),
    api,
    progress: () => progress,
    metric: async (name) => sumOf(name, await (await fetch(`http://127.0.0.1:${road.metricsPort}/metrics`)).text()),
    async stop() {
      await road.stop()
      await endChild(api)
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function startRoles(options: RigOptions, places: Places): Promise<Road> {
  const redis = await startRedis(places.dir, options)
  const monitors = await freePorts(2)
  const flags = options.inspect ? ['--inspect=127.0.0.1:0'] : []
  const children = await Promise.all(
    (['gateway', 'worker'] as const).map(async (role, at) => {
      const dir = join(places.dir, role)
      await mkdir(dir)
      await writeConfig(
        { ...places, dir },
        options,
        `
redis: ${redis.settings}
monitor: { port: ${monitors[at]} }
filter: { max_age: 876000h }`,
      )
      const stdio = ['inherit', options.inspect ? 'pipe' : 'inherit'] as const
      const child = await startRole(role, { dir, monitorPort: monitors[at], flags, stdio })
      return { child, inspector: options.inspect ? await inspectorOf(child) : [] }
    }),
  )
  const [gateway, worker] = children.map(({ child }) => pidOf(child))
  return {
    redisUrl: redis.url,
    processes: new Map(Object.entries({ gateway, worker, redis: redis.pid })),
    inspectors: children.flatMap(({ inspector }) => inspector),
    metricsPort: monitors[0],
    async stop() {
      for (const { child } of children) await endChild(child)
      await redis.stop()
    },
  }
}

async function startRedis(dir: string, { replicas }: RigOptions) {
  if (replicas === undefined) {
    const { url, pid, stop } = await startPrivateRedis(dir, 2 ** 31)
    return { url, pid, stop, settings: `{ url: "${url}" }` }
  }
  const ports = await freePorts(6)
  const machines = [0, 2, 4].map((at) => ({ host: '127.0.0.1', port: ports[at], sentinelPort: ports[at + 1] }))
  const group = await RedisGroup.start({ machines })
  const settings = group.settings.replace('replicas: 2', `replicas: ${replicas}`)
  const [pid] = pidsIn(group.dirOf(0))
  return { url: `redis://127.0.0.1:${ports[0]}`, pid, stop: () => group.stop(), settings }
}

async function startWhole(options: ProductRigOptions, places: Places): Promise<Product> {
  const { gateways, shards = 1, inspect } = options
  await writeConfig(
    places,
    options,
    `
redis: { max_memory: 2gb, shards: ${shards} }
admin: { port: 0 }
gateways: ${gateways}
# So soon after the start fixes are newer than all that may be stored, as on most of a day: none is looked up.
filter: { max_age: 876000h, max_future: 1s }`,
  )
  return runProduct(places.dir, inspect ? { NODE_OPTIONS: '--inspect-port=127.0.0.1:0' } : {})
}

function roadOf(product: Product): Road {
  const gateways = product.pidsOf('gateway').map((pid, at) => [`gateway ${at}`, pid] as const)
  const [worker] = product.pidsOf('worker')
  return {
    redisUrl: '',
    processes: new Map([...gateways, ['worker', worker], ['redis', product.redisPid()!]]),
    inspectors: [],
    metricsPort: product.ports.admin,
    stop: async () => void (await product.end()),
  }
}

export function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('a process of the bench could not be started')
  return pid
}

/** Writes the configuration to a folder; `sections`: those of `gateway.yaml` that not every rig has. */
async function writeConfig({ dir, port, apiPort }: Places, options: RigOptions, sections: string): Promise<void> {
  const { concurrency, protocol = 'teltonika', vans } = options
  const yaml = `
data_dir: ${join(dir, 'data')}
listeners: [{ transport: tcp, port: ${port}, protocol: ${protocol}, host: 0.0.0.0 }]
mqtt: { broker: null }
tracking: { base_url: "http://127.0.0.1:${apiPort}" }
companies: [{ company_id: 7, apikey: bench }]
push: { concurrency: ${concurrency} }
limits: { max_connections_per_ip: 20000 }
log: { level: warn, format: json }
copies: ${options.copies ?? '[]'}
${sections}
`
  const devices = Array.from({ length: vans }, (_, i) => `${imeiOf(i)},7,${i + 1},${i + 1}`)
  await writeFile(join(dir, 'gateway.yaml'), yaml)
  await writeFile(join(dir, 'devices.csv'), `device,company_id,courier_id,route_id\n${devices.join('\n')}\n`)
}

/** A counter in the text of metrics, all labels summed up. */
function sumOf(name: string, text: string): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

const API = fileURLToPath(new URL('api.ts', import.meta.url))
