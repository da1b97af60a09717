import { type ChildProcess, fork } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePorts } from '../../support/free-ports.ts'
import { endChild, messageOf } from '../../support/processes.ts'
import { type Product, runProduct } from '../../rig/product.ts'
import { imeiOf } from './codec8.ts'
import { pidOf, type Rig, sumOf } from './rig.ts'

export interface SiteOptions {
  readonly vans: number
  readonly gateways: number
  readonly shards?: number
  readonly concurrency: number
  /** Whether a gateway opens an inspector at SIGUSR1. */
  readonly inspect?: boolean
}

/** The product with several gateways, as `start` runs it, and a minimal API. */
export class Site {
  readonly port: number
  readonly api: ChildProcess
  readonly #product: Product

  private constructor(port: number, api: ChildProcess, product: Product) {
    this.port = port
    this.api = api
    this.#product = product
  }

  static async begin(options: SiteOptions): Promise<Site> {
    const dir = await mkdtemp(join(tmpdir(), 'waybridge-site-'))
    const [port] = await freePorts(1)
    const api = fork(join(HERE, 'api.ts'), ['0'])
    const { port: apiPort } = await messageOf<{ port: number }>(api, 'ready')
    await writeConfig(dir, { ...options, port, apiPort })
    const env = options.inspect ? { NODE_OPTIONS: '--inspect-port=127.0.0.1:0' } : {}
    return new Site(port, api, await runProduct(dir, env))
  }

  /** What its processes have printed. */
  get said(): string {
    return this.#product.said()
  }

  get gateways(): number[] {
    return this.#product.pidsOf('gateway')
  }

  /** The processes whose CPU time counts, by name; several gateways are numbered. */
  get processes(): Map<string, number> {
    const [worker] = this.#product.pidsOf('worker')
    return new Map([
      ...this.gateways.map((pid, at) => [`gateway ${at}`, pid] as const),
      ['worker', worker],
      ['redis', this.#product.redisPid()!],
    ])
  }

  /** A counter of all its metrics, all labels summed up. */
  async metric(name: string): Promise<number> {
    return sumOf(name, await (await fetch(`http://127.0.0.1:${this.#product.ports.admin}/metrics`)).text())
  }

  async stop(): Promise<void> {
    await this.#product.end()
    await endChild(this.api)
  }
}

/** A site as a road to measure. */
export async function siteRig(options: SiteOptions): Promise<Rig> {
  const site = await Site.begin(options)
  let progress = { positions: 0, requests: 0 }
  site.api.on('message', (sent: { type: string; positions: number; requests: number }) => {
    if (sent.type === 'progress') progress = sent
  })
  return {
    port: site.port,
    redisUrl: '',
    processes: new Map([...site.processes, ['api', pidOf(site.api)]]),
    api: site.api,
    inspectors: [],
    progress: () => progress,
    metric: (name) => site.metric(name),
    stop: () => site.stop(),
  }
}

async function writeConfig(dir: string, config: SiteOptions & { readonly port: number; readonly apiPort: number }) {
  const yaml = `
data_dir: ${join(dir, 'data')}
redis: { max_memory: 2gb, shards: ${config.shards ?? 1} }
listeners: [{ transport: tcp, port: ${config.port}, protocol: teltonika, host: 0.0.0.0 }]
mqtt: { broker: null }
tracking: { base_url: "http://127.0.0.1:${config.apiPort}" }
companies: [{ company_id: 7, apikey: bench }]
push: { concurrency: ${config.concurrency} }
admin: { port: 0 }
# So soon after the start fixes are newer than all that may be stored, as on most of a day: none is looked up.
filter: { max_age: 876000h, max_future: 1s }
gateways: ${config.gateways}
log: { level: warn, format: json }
`
  const devices = Array.from({ length: config.vans }, (_, i) => `${imeiOf(i)},7,${i + 1},${i + 1}`)
  await writeFile(join(dir, 'gateway.yaml'), yaml)
  await writeFile(join(dir, 'devices.csv'), `device,company_id,courier_id,route_id\n${devices.join('\n')}\n`)
}

const HERE = fileURLToPath(new URL('.', import.meta.url))
