import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { devicesYaml, type FleetVan } from '../../src/simulate/fleet.ts'
import { type Ports, usualPorts } from '../../src/simulate/ports.ts'

/** The folder of a run, with a configuration in it. */
export interface Site {
  readonly dir: string
  readonly dataDir: string
  /** Where the gateway listens for vans. */
  readonly ports: Ports
  readonly adminPort: number
  readonly apiPort: number
  /** Whether the data has a small disk of its own. */
  readonly ownDisk: boolean
  /** Gives the disk back, keeping what is on it, or removes everything. */
  leave(keep: boolean): Promise<void>
}

export const MAX_MEMORY = 256 * 1024 * 1024
export const PUSH_TIMEOUT_MS = 3000

/** Its data has a disk of its own where this process has the right to mount one. */
export async function prepareSite(fleet: readonly FleetVan[]): Promise<Site> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-chaos-'))
  const dataDir = join(dir, 'data')
  await mkdir(dataDir)
  const ownDisk = mount(dataDir)
  const places = Object.keys(usualPorts())
  const [adminPort, apiPort, ...free] = await freePorts(places.length + 2)
  const ports = Object.fromEntries(places.map((place, index) => [place, free[index]]))
  await writeFile(join(dir, 'gateway.yaml'), gatewayYaml({ dataDir, ports, adminPort, apiPort }))
  await writeFile(join(dir, 'devices.yaml'), devicesYaml(fleet))
  return {
    dir,
    dataDir,
    ports,
    adminPort,
    apiPort,
    ownDisk,
    async leave(keep) {
      if (ownDisk && keep) execFileSync('cp', ['-a', dataDir, `${dataDir}-kept`])
      if (ownDisk) execFileSync('umount', [dataDir])
      if (!keep) await rm(dir, { recursive: true, force: true })
    },
  }
}

function mount(dir: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', dir], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Below those that the system gives to connections: else one of them may have a listener's while that is killed. */
async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  for (let port = 20_000 + Math.floor(Math.random() * 10_000); ports.length < count; port++)
    if (await isFree(port)) ports.push(port)
  return ports
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

type Settings = Pick<Site, 'dataDir' | 'ports' | 'adminPort' | 'apiPort'>

function gatewayYaml({ dataDir, ports, adminPort, apiPort }: Settings): string {
  const { mqtt, ...places } = ports
  const listeners = Object.entries(places).map(([place, port]) => {
    const [transport, protocol] = place.split('/')
    return `  - { transport: ${transport}, protocol: ${protocol}, port: ${port}, host: 127.0.0.1 }`
  })
  return `
data_dir: ${dataDir}
redis: { max_memory: ${MAX_MEMORY / 1024 / 1024}mb }
listeners:
${listeners.join('\n')}
mqtt: { broker: { host: 127.0.0.1, port: ${mqtt} } }
tracking: { base_url: "http://127.0.0.1:${apiPort}" }
companies: [{ company_id: 1, apikey: chaos }]
batch: { max_wait: 200ms }
push: { timeout: ${PUSH_TIMEOUT_MS}ms, first_delay: 200ms, max_delay: 2s }
workers: 2
admin: { port: ${adminPort} }
log: { format: json, level: debug }
`
}

const DISK_BYTES = 192 * 1024 * 1024
