import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { socketOf, socketUrl } from '../../src/process/redis-endpoint.ts'
import type { Ports } from '../../src/process/role-process.ts'
import { devicesYaml, type FleetVan } from '../../src/sandbox/fleet.ts'
import { freePorts } from '../support/free-ports.ts'
import { mountTmpfs } from '../support/tmpfs.ts'
import { openClock, type ProcessClock } from './clock.ts'
import { type ReplicatedRedis, startReplicatedRedis, type Topology } from './replicated-redis.ts'

/** A gateway of its own, with a configuration. */
export interface Machine {
  readonly dir: string
  /** Where the gateway listens for vans. */
  readonly ports: Ports
  /** Monitor port of a gateway that is a role on its own. */
  readonly monitorPort: number
}

/** The folder of a run, with everything in it. */
export interface Site {
  /** The folder of the first machine, which runs `start`. */
  readonly dir: string
  /** The data folder, with the Redis in it. */
  readonly dataDir: string
  readonly machines: readonly Machine[]
  /** Whether all machines share a Redis of their own; otherwise `start` has its private one. */
  readonly sharedRedis: boolean
  /** A replicated Redis in place of these. */
  readonly replicated?: ReplicatedRedis
  readonly adminPort: number
  readonly apiPort: number
  /** The clock of the product, if it can be set. */
  readonly clock?: ProcessClock
  /** Whether the data has a small disk of its own. */
  readonly ownDisk: boolean
  /** Unmounts the disk; keeps its content, or removes everything. */
  leave(keep: boolean): Promise<void>
}

/** The time zone of the product: of its processes, of `gateway.yaml`, and of times without an offset in its files. */
export const ZONE = 'Europe/Berlin'
export const MAX_MEMORY = 256 * 1024 * 1024
export const PUSH_TIMEOUT_MS = 3000

interface SiteOptions {
  readonly gateways: number
  readonly topology: Topology
  readonly shards?: number
  /** Whether the clock of the product is to jump. */
  readonly clockJumps?: boolean
  /** More of `gateway.yaml`: sections in lines. */
  readonly sections?: string
}

/** Its data has a disk of its own if this process has the right to mount one. */
export async function prepareSite(
  fleet: readonly FleetVan[],
  { gateways, topology, shards = 1, clockJumps = false, sections = '' }: SiteOptions,
): Promise<Site> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-chaos-'))
  const dataDir = join(dir, 'data')
  await mkdir(dataDir)
  const ownDisk = mountTmpfs(dataDir, DISK_BYTES)
  const places = [...new Set(['mqtt', ...fleet.map(({ speech }) => placeOf(speech))])]
  const [adminPort, apiPort, ...free] = await freePorts(gateways * (places.length + 1) + 2)
  const machines = Array.from({ length: gateways }, (_, index): Machine => {
    const [monitorPort, ...own] = free.splice(0, places.length + 1)
    const ports = Object.fromEntries(places.map((place, at) => [place, own[at]]))
    return { dir: index === 0 ? dir : join(dir, `gateway-${index + 1}`), ports, monitorPort }
  })
  const replicated =
    topology === 'single'
      ? undefined
      : await startReplicatedRedis(topology, { shards, clocksIn: clockJumps ? dir : undefined })
  const sharedRedis = gateways > 1 && !replicated
  const redis =
    replicated?.settings ??
    (sharedRedis ? `{ url: "${await redisUrl(dataDir)}" }` : `{ max_memory: ${MAX_MEMORY / 2 ** 20}mb }`)
  for (const machine of machines) {
    await mkdir(join(machine.dir, 'data'), { recursive: true })
    await writeFile(
      join(machine.dir, 'gateway.yaml'),
      gatewayYaml({
        machine,
        redis,
        adminPort,
        apiPort,
        sections,
      }),
    )
    await writeFile(join(machine.dir, 'devices.yaml'), devicesYaml(fleet))
  }
  return {
    dir,
    dataDir,
    machines,
    sharedRedis,
    replicated,
    clock: clockJumps ? openClock(dir) : undefined,
    adminPort,
    apiPort,
    ownDisk,
    async leave(keep) {
      await replicated?.stop({ keep })
      if (ownDisk && keep) execFileSync('cp', ['-a', dataDir, `${dataDir}-kept`])
      if (ownDisk) execFileSync('umount', [dataDir])
      if (!keep) await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Returns the URL of the Redis of a data folder. */
async function redisUrl(dataDir: string): Promise<string> {
  return socketUrl(await socketOf(join(dataDir, 'redis')))
}

/** The name of the listener for a speech. */
function placeOf({ protocol, transport }: FleetVan['speech']): string {
  return transport === 'mqtt' ? 'mqtt' : `${transport}/${protocol}`
}

interface Settings extends Pick<Site, 'adminPort' | 'apiPort'> {
  readonly machine: Machine
  /** The section `redis`. */
  readonly redis: string
  readonly sections: string
}

function gatewayYaml({ machine: { dir, ports, monitorPort }, redis, adminPort, apiPort, sections }: Settings): string {
  const { mqtt, ...places } = ports
  const listeners = Object.entries(places).map(([place, port]) => {
    const [transport, protocol] = place.split('/')
    return `  - { transport: ${transport}, protocol: ${protocol}, port: ${port}, host: 127.0.0.1 }`
  })
  return `
data_dir: ${join(dir, 'data')}
time_zone: ${ZONE}
redis: ${redis}
listeners:
${listeners.join('\n')}
mqtt: { broker: { host: 127.0.0.1, port: ${mqtt} } }
tracking: { base_url: "http://127.0.0.1:${apiPort}" }
companies: [{ company_id: 1, apikey: chaos, oauth_token: chaos-reads }]
batch: { max_wait: 200ms }
push: { timeout: ${PUSH_TIMEOUT_MS}ms, first_delay: 200ms, max_delay: 2s }
workers: 2
admin: { port: ${adminPort} }
monitor: { port: ${monitorPort} }
log: { format: json, level: debug }
${sections}
`
}

const DISK_BYTES = 192 * 1024 * 1024
