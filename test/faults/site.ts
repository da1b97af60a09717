import { createFleet, devicesYaml, type FleetVan } from '../../src/simulate/fleet.ts'
import { runSimulation } from '../../src/simulate/simulation.ts'
import { speeches } from '../../src/simulate/speak/index.ts'
import { connected } from '../support/admin.ts'
import { type Product, startProduct } from '../support/product.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'
import { type FaultyApi, startFaultyApi } from './api.ts'

/** `waybridge start` with vans that drive, a Redis and a tracking API, all of which can be broken. */
export interface Site {
  readonly product: Product
  readonly api: FaultyApi
  readonly redis: TestRedis
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
] as const

export async function startSite({ vans: count = 4, yaml = '' } = {}): Promise<Site> {
  const [api, redis] = await Promise.all([startFaultyApi(), startTestRedis()])
  const vans = createFleet(count, SPEECHES)
  const devices = [GUARDED.id, ...OWN].map((id, index) => {
    const secret = id === GUARDED.id ? `, secret: ${GUARDED.secret}` : ''
    return `"${id}": { name: Own ${index}, company_id: 7, courier_id: ${50 + index}, route_id: ${2050 + index}${secret} }\n`
  })
  const files = { 'devices.yaml': devicesYaml(vans, '7') + devices.join('') }
  const product = await startProduct(files, settings(api.url, redis.url) + yaml)
  const end = new AbortController()
  const driving = drive(product, vans, end.signal)
  const connection = await connected(redis.url)
  return {
    product,
    api,
    redis,
    command: (name, ...words) => connection.call(name, ...words),
    async close() {
      end.abort()
      await driving
      connection.disconnect()
      await product.end()
      await Promise.all([api.close(), redis.stop()])
    },
  }
}

function settings(api: string, redis: string): string {
  return `
redis: { url: "${redis}" }
tracking: { base_url: "${api}" }
workers: 2
`
}

function drive({ ports }: Product, vans: readonly FleetVan[], hurry: AbortSignal): Promise<unknown> {
  const tour = { host: '127.0.0.1', ports, vans, intervalMs: 1000, durationMs: LONGEST_MS, seed: 1 }
  return runSimulation({ ...tour, patienceMs: 0, hurry })
}

const SPEECHES = ['teltonika', 'gt06'].flatMap((name) => speeches.find(({ protocol }) => protocol === name) ?? [])
/** Vans that were forgotten would drive for ever. */
const LONGEST_MS = 3_600_000
