import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { CLI, endChild, pidsIn, pidsWith, untilSo } from '../support/processes.ts'

/** A running `waybridge start` with its own temporary folder, as a user runs it. */
export interface Product {
  readonly dir: string
  readonly ports: Readonly<Record<string, number>>
  /** Everything that its processes have printed so far. */
  said(): string
  /** The process ids of a role. */
  pidsOf(role: string): number[]
  /** The process id of the private Redis; undefined if it does not run. */
  redisPid(): number | undefined
  /** A file of the configuration. */
  read(file: string): Promise<string>
  /** Replaces a file of the configuration by rename, as editors do. */
  write(file: string, text: string): Promise<void>
  positions(route: string, from: number, to: number): Promise<{ lat: number; lon: number; timestamp: number }[]>
  admin<T>(path: string, init?: RequestInit): Promise<T>
  /** Ends it by a signal, removes the folder, and returns the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

export const COMPANY = { apikey: 'canary-apikey', oauth_token: 'canary-oauth' }

/** The port for all protocols, with which `yaml` may begin: its gateway loads them all. */
export const AUTO_LISTENER = '  - { transport: tcp, protocol: auto, port: 0, host: 127.0.0.1 }\n'

/** Writes `files` and a gateway.yaml (free ports, company 7, then `yaml`) to a new folder, and starts the product on it. */
export async function startProduct(files: Readonly<Record<string, string>>, yaml = ''): Promise<Product> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-e2e-'))
  // A section of one line that `yaml` has as well is left out.
  const usual = gatewayYaml(dir).replaceAll(/^(\w+): [[{].*\n/gm, (line, section: string) =>
    new RegExp(`^${section}:`, 'm').test(yaml) ? '' : line,
  )
  await writeFile(join(dir, 'gateway.yaml'), usual + yaml)
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text)
  return runProduct(dir)
}

/** Starts the product on a folder that holds a configuration with `data` as data folder; resolves once it is ready. */
export async function runProduct(dir: string, env: NodeJS.ProcessEnv = {}): Promise<Product> {
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
  const ports = JSON.parse(await readFile(portsFile, 'utf8')) as Record<string, number>
  return {
    dir,
    ports,
    said: () => said,
    pidsOf: (role) => pidsWith(dir, role),
    redisPid: () => pidsIn(join(dir, 'data', 'redis'))[0],
    read: (file) => readFile(join(dir, file), 'utf8'),
    async write(file, text) {
      await writeFile(join(dir, `${file}.new`), text)
      await rename(join(dir, `${file}.new`), join(dir, file))
    },
    async positions(route, from, to) {
      const url = `http://127.0.0.1:${ports.tracking}/api/v2/companies/7/routes/${route}/courier-positions?from=${from}&to=${to}`
      const answer = await fetch(url, { headers: { authorization: `OAuth ${COMPANY.oauth_token}` } })
      expect(answer.status).toBe(200)
      return (await answer.json()) as { lat: number; lon: number; timestamp: number }[]
    },
    async admin<T>(path: string, init: RequestInit = {}) {
      const token = (await readFile(join(dir, 'data', 'admin-token'), 'utf8')).trim()
      const headers = new Headers(init.headers)
      headers.set('authorization', `Bearer ${token}`)
      return (await (await fetch(`http://127.0.0.1:${ports.admin}${path}`, { ...init, headers })).json()) as T
    },
    async end(signal = 'SIGTERM') {
      const code = await endChild(child, signal)
      await rm(dir, { recursive: true, force: true, maxRetries: 5 })
      return code
    },
  }
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

function gatewayYaml(dir: string): string {
  const listeners = [
    ['tcp', 'teltonika'],
    ['udp', 'teltonika'],
    ['tcp', 'gt06'],
    ['tcp', 'h02'],
    ['tcp', 'wialon'],
    ['http', 'osmand'],
  ].map(([transport, protocol]) => `  - { transport: ${transport}, protocol: ${protocol}, port: 0, host: 127.0.0.1 }`)
  return `
data_dir: ${join(dir, 'data')}
redis: { max_memory: 256mb }
mqtt: { broker: { host: 127.0.0.1, port: 0 } }
tracking: { listen: { host: 127.0.0.1, port: 0 } }
admin: { port: 0 }
batch: { max_wait: 100ms }
companies: [{ company_id: 7, apikey: ${COMPANY.apikey}, oauth_token: ${COMPANY.oauth_token} }]
log: { format: json, level: debug }
listeners:
${listeners.join('\n')}
`
}

const START_MS = 100_000
