import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { devicesYaml } from '../fleet.ts'
import { type Ports, usualPorts } from '../ports.ts'
import type { DemoPlan } from './plan.ts'

/** A folder with a configuration for a fleet, and room for the data of one run. */
export interface Site {
  readonly folder: string
  readonly configDir: string
  readonly dataDir: string
  /** What the processes say. */
  readonly logFile: string
  readonly companyId: string
  readonly oauthToken: string
  remove(): Promise<void>
}

/** Where everything listens that a demo runs, if it can. */
export function usualDemoPorts(): Ports {
  return { ...usualPorts(), admin: 8080, tracking: 8090 }
}

/** Below `home`, so that one demo does not disturb another; ports are the usual ones where they are free. */
export async function prepareSite(
  { fleet }: DemoPlan,
  { home = '.demo', usual = usualDemoPorts() } = {},
): Promise<Site> {
  await mkdir(home, { recursive: true })
  const folder = await mkdtemp(join(home, 'run-'))
  const site = {
    folder,
    configDir: join(folder, 'config'),
    dataDir: join(folder, 'data'),
    logFile: join(folder, 'demo.log'),
    companyId: '1',
    oauthToken: randomBytes(16).toString('hex'),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
  await mkdir(site.configDir)
  await writeFile(join(site.configDir, 'gateway.yaml'), stringify(await gateway(site, usual)), { mode: 0o600 })
  await writeFile(join(site.configDir, 'devices.yaml'), devicesYaml(fleet, site.companyId))
  return site
}

const HOST = '127.0.0.1'

async function gateway({ companyId, oauthToken, dataDir }: Omit<Site, 'remove'>, usual: Ports) {
  const { mqtt, admin, tracking, ...places } = usual
  return {
    data_dir: dataDir,
    redis: { max_memory: '256mb' },
    listeners: await Promise.all(Object.entries(places).map(listener)),
    mqtt: { broker: await tcpAddress(mqtt) },
    tracking: { listen: await tcpAddress(tracking) },
    companies: [
      { company_id: companyId, name: 'Demo', apikey: randomBytes(16).toString('hex'), oauth_token: oauthToken },
    ],
    workers: 2,
    admin: await tcpAddress(admin),
    log: { level: 'warn', format: 'json' },
  }
}

async function listener([place, port]: [string, number]) {
  const [transport, protocol] = place.split('/')
  const free = await (transport === 'udp' ? isUdpFree(port) : isTcpFree(port))
  return { transport, protocol, host: HOST, port: free ? port : 0 }
}

async function tcpAddress(port: number) {
  return { host: HOST, port: (await isTcpFree(port)) ? port : 0 }
}

function isTcpFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, HOST, () => server.close(() => resolve(true)))
  })
}

function isUdpFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4')
    socket.once('error', () => socket.close(() => resolve(false)))
    socket.bind(port, HOST, () => socket.close(() => resolve(true)))
  })
}
