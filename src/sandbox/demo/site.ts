import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { pageAddress, tokenFile } from '../../admin/access.ts'
import { UserError } from '../../errors.ts'
import type { Ports } from '../../process/role-process.ts'
import { createFleet, devicesYaml, type FleetVan } from '../fleet.ts'
import { durationOption, speechesOption, usualPorts, vansOption } from '../options.ts'
import { demoSpeeches } from '../speak/index.ts'
import { createMistake, MISTAKEN, type RosterMistake, mistakenRoutes } from './mistake.ts'
import type { PaintText } from './view.ts'

/** A folder with the configuration for a fleet and the data of one run. */
export interface DemoSite {
  readonly folder: string
  readonly configDir: string
  readonly dataDir: string
  /** Output of the processes. */
  readonly logFile: string
  readonly companyId: string
  readonly oauthToken: string
  remove(): Promise<void>
}

/** The usual ports of everything that a demo runs. */
function usualDemoPorts(): Ports {
  return { ...usualPorts(), admin: 8080, tracking: 8090 }
}

/** Creates a folder below `home`, one for each demo; uses the usual ports if they are free. */
export async function prepareSite(
  { fleet, mistake }: DemoPlan,
  { home = '.demo', usual = usualDemoPorts() } = {},
): Promise<DemoSite> {
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
  await writeFile(join(site.configDir, 'devices.yaml'), devicesYaml(fleet, site.companyId, !mistake))
  if (mistake) await writeFile(join(site.configDir, 'routes.csv'), mistakenRoutes(mistake, fleet))
  return site
}

const HOST = '127.0.0.1'

async function gateway({ companyId, oauthToken, dataDir }: Omit<DemoSite, 'remove'>, usual: Ports) {
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
    verify: { after: '15s' },
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

/** Options as on the command line. */
export interface DemoArguments {
  readonly vans?: string
  readonly seconds?: string
  /** Comma-separated. */
  readonly protocols?: string
  /** Puts two vans on each other's routes. */
  readonly mistake?: boolean
}

export interface DemoPlan {
  readonly fleet: readonly FleetVan[]
  readonly drivingMs: number
  readonly mistake?: RosterMistake
}

/** Returns the plan for the options. With a mistake, there is time to correct it. @throws UserError for a wrong option. */
export function demoPlan({ vans = '20', seconds, protocols, mistake }: DemoArguments, now = Date.now()): DemoPlan {
  const chosen = protocols === undefined ? demoSpeeches : speechesOption(protocols)
  const drivingMs = durationOption('--seconds', seconds ?? (mistake ? '900' : '30'), INTERVAL_MS)
  const fleet = createFleet(vansOption(vans), chosen)
  if (mistake && fleet.length < MISTAKEN) throw new UserError(`--mistake: at least ${MISTAKEN} vans.`)
  return { fleet, drivingMs, mistake: mistake ? createMistake(now, drivingMs) : undefined }
}

/** Between two fixes of a van. */
export const INTERVAL_MS = 1000

/** How many vans speak which protocol: `teltonika 8`, `gt06 4` … */
export function fleetLabels(fleet: readonly FleetVan[]): string[] {
  const groups = Map.groupBy(fleet, ({ speech }) => speech.protocol)
  return [...groups].map(([protocol, { length }]) => `${protocol} ${length}`)
}

/** Announces what runs where, and how to ask the admin port. */
export function announcement({ dataDir, folder }: DemoSite, ports: Ports, paint: PaintText): string[] {
  const page = pageAddress(`http://127.0.0.1:${ports.admin}`, readFileSync(tokenFile(dataDir), 'utf8'))
  const usual = usualDemoPorts()
  const moved = Object.entries(ports).some(([name, port]) => usual[name] !== undefined && usual[name] !== port)
  return [
    `  Everything runs on 127.0.0.1, its data in ${folder}.`,
    ...(moved ? [`  Usual ports are taken: ${join(dataDir, 'ports.json')} says which are used.`] : []),
    '',
    `  Page: ${paint('cyan', page)}`,
    '',
  ]
}
