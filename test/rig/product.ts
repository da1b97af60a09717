import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CopyJson } from '../../src/admin/schemas/status.ts'
import type { Ports } from '../../src/process/role-process.ts'
import { CLI, endChild, pidsIn, pidsWith, untilSo } from '../support/processes.ts'

/** A running `waybridge start` with its own temporary folder, as a user runs it. */
export interface Product extends RunningStart {
  readonly dir: string
  /** The process ids of a role. */
  pidsOf(role: string): number[]
  /** The process id of the private Redis; undefined if it does not run. */
  redisPid(): number | undefined
  /** A file of the configuration. */
  read(file: string): Promise<string>
  /** Replaces a file of the configuration by rename, as editors do. */
  write(file: string, content: string | Buffer): Promise<void>
  positions(route: string, from: number, to: number): Promise<{ lat: number; lon: number; timestamp: number }[]>
  /** The JSON that the admin port answers. */
  admin<T>(path: string, init?: RequestInit): Promise<T>
  /** Ends it by a signal, removes the folder, and returns the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

/** The first process of a product that is ready. */
interface RunningStart {
  readonly child: ChildProcess
  readonly ports: Readonly<Record<string, number>>
  /** Everything that its processes have printed so far. */
  said(): string
}

export const COMPANY = { apikey: 'canary-apikey', oauth_token: 'canary-oauth' }

/** The port for all protocols, with which `yaml` may begin: its gateway loads them all. */
export const AUTO_LISTENER = '  - { transport: tcp, protocol: auto, port: 0, host: 127.0.0.1 }\n'

/** Writes `files` and a gateway.yaml (free ports, company 7, then `yaml`) to a new folder, and starts the product on it. */
export async function startProduct(files: Readonly<Record<string, string>>, yaml = ''): Promise<Product> {
  return runProduct(await makeFolder(files, yaml))
}

/** Writes `files` and a gateway.yaml to a new folder. `ports`: those that must not change when the product is started again. */
export async function makeFolder(
  files: Readonly<Record<string, string>>,
  yaml: string,
  ports: Ports = {},
): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-e2e-'))
  // A section of one line that `yaml` has as well is left out.
  const usual = gatewayYaml(dir, ports).replaceAll(/^(\w+): [[{].*\n/gm, (line, section: string) =>
    new RegExp(`^${section}:`, 'm').test(yaml) ? '' : line,
  )
  await writeFile(join(dir, 'gateway.yaml'), usual + yaml)
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text)
  return dir
}

/** Starts the product on a folder that holds a configuration with `data` as data folder; resolves once it is ready. */
export async function runProduct(dir: string, env: NodeJS.ProcessEnv = {}): Promise<Product> {
  const running = await runStart(dir, env)
  const { child, ports } = running
  return {
    ...running,
    dir,
    pidsOf: (role) => pidsWith(dir, role),
    redisPid: () => pidsIn(join(dir, 'data', 'redis'))[0],
    read: (file) => readFile(join(dir, file), 'utf8'),
    async write(file, content) {
      await writeFile(join(dir, `${file}.new`), content)
      await rename(join(dir, `${file}.new`), join(dir, file))
    },
    async positions(route, from, to) {
      const url = `http://127.0.0.1:${ports.tracking}/api/v2/companies/7/routes/${route}/courier-positions?from=${from}&to=${to}`
      const answer = await fetch(url, { headers: { authorization: `OAuth ${COMPANY.oauth_token}` } })
      if (answer.status !== 200) throw new Error(`GET ${url}: ${answer.status}`)
      return (await answer.json()) as { lat: number; lon: number; timestamp: number }[]
    },
    admin: async <T>(path: string, init?: RequestInit) =>
      (await (await askAdmin({ dataDir: join(dir, 'data'), adminPort: ports.admin }, path, init)).json()) as T,
    async end(signal = 'SIGTERM') {
      const code = await endChild(child, signal)
      await rm(dir, { recursive: true, force: true, maxRetries: 5 })
      return code
    },
  }
}

/** Runs `waybridge start` on such a folder; resolves once it is ready. */
export async function runStart(dir: string, env: NodeJS.ProcessEnv = {}): Promise<RunningStart> {
  const child = spawn(process.execPath, [CLI, 'start', '--config', dir], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  const closed = once(child, 'close')
  const portsFile = join(dir, 'data', 'ports.json')
  const isOver = () => existsSync(portsFile) || child.exitCode !== null
  if (!(await untilSo(isOver, { withinMs: START_MS, everyMs: 20 }))) {
    await endChild(child)
    throw new Error(`start is not ready: ${said}`)
  }
  if (child.exitCode !== null) {
    // What it said last may still be in the pipes.
    await closed
    throw new Error(`start ended with ${child.exitCode}: ${said}`)
  }
  return { child, ports: JSON.parse(await readFile(portsFile, 'utf8')) as Record<string, number>, said: () => said }
}

/** The admin port of a product; without `token`: the one that the product has written to its data folder. */
export interface AdminPlace {
  readonly dataDir: string
  readonly adminPort: number
  readonly token?: string
}

export async function askAdmin(place: AdminPlace, path: string, init: RequestInit = {}): Promise<Response> {
  const { dataDir, adminPort, token = (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim() } = place
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${token}`)
  return fetch(`http://127.0.0.1:${adminPort}${path}`, { ...init, headers })
}

/** What `GET /admin/status` tells. */
export interface Status {
  readonly waiting: { readonly fixes: number }
  readonly custody: Readonly<Record<string, number>>
  readonly findings: readonly { readonly code: string; readonly evidence: readonly string[] }[]
  readonly copies?: readonly CopyJson[]
}

/** Rejects without an answer within 10 s, or if it is no 200. */
export async function statusOf(place: AdminPlace): Promise<Status> {
  const answer = await askAdmin(place, '/admin/status', { signal: AbortSignal.timeout(STATUS_MS) })
  if (!answer.ok) throw new Error(`/admin/status: ${answer.status}`)
  return (await answer.json()) as Status
}

/** The account once it is as `isWell` says; if it is not so within a time, as it is in the end: undefined if it cannot be read. */
export async function custodyOnce(
  status: () => Promise<Status>,
  isWell: (custody: Status['custody']) => boolean,
  { withinMs, everyMs = 200 }: { readonly withinMs: number; readonly everyMs?: number },
): Promise<Status['custody'] | undefined> {
  let custody: Status['custody'] | undefined
  const look = async () => {
    custody = (await status().catch(() => undefined))?.custody
    return custody !== undefined && isWell(custody)
  }
  await untilSo(look, { withinMs, everyMs })
  return custody
}

/** Whether nothing waits, and nothing is missing. */
export function isAtRest({ waiting, difference }: Status['custody']): boolean {
  return waiting === 0 && difference === 0
}

/** Opens a TCP connection that keeps every byte it receives. */
export async function dial(port: number): Promise<{ socket: Socket; answered(): Buffer; closed(): boolean }> {
  const socket = connect(port, '127.0.0.1')
  let answered = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => (answered = Buffer.concat([answered, bytes])))
  socket.on('error', () => {})
  await once(socket, 'connect')
  return { socket, answered: () => answered, closed: () => socket.destroyed }
}

function gatewayYaml(dir: string, { mqtt = 0, tracking = 0, admin = 0, ...ports }: Ports): string {
  const places = ['tcp/teltonika', 'udp/teltonika', 'tcp/gt06', 'tcp/h02', 'tcp/wialon', 'http/osmand']
  const listeners = places.map((place) => {
    const [transport, protocol] = place.split('/')
    return `  - { transport: ${transport}, protocol: ${protocol}, port: ${ports[place] ?? 0}, host: 127.0.0.1 }`
  })
  return `
data_dir: ${join(dir, 'data')}
redis: { max_memory: 256mb }
mqtt: { broker: { host: 127.0.0.1, port: ${mqtt} } }
tracking: { listen: { host: 127.0.0.1, port: ${tracking} } }
admin: { port: ${admin} }
batch: { max_wait: 100ms }
companies: [{ company_id: 7, apikey: ${COMPANY.apikey}, oauth_token: ${COMPANY.oauth_token} }]
log: { format: json, level: debug }
listeners:
${listeners.join('\n')}
`
}

const START_MS = 100_000
const STATUS_MS = 10_000
