import { type ChildProcess, fork, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPrivateRedis } from '../../../src/process/redis.ts'
import { freePorts } from '../../support/free-ports.ts'
import { inspectorOf } from '../../support/inspector.ts'
import { CLI, endChild, killAtEnd, messageOf, pidsIn, untilSo } from '../../support/processes.ts'
import { RedisGroup } from '../../rig/redis-group.ts'

export interface RigOptions {
  readonly vans: number
  /** How long the API takes to answer, ms. */
  readonly apiDelayMs: number
  readonly concurrency: number
  readonly keepSamples: boolean
  /** Of the gateway's listener; absent: the protocol of the vans, Teltonika. */
  readonly protocol?: 'auto'
  /** In place of the private Redis: a primary with two replicas, for so many of which a device's answer waits. */
  readonly replicas?: 0 | 2
  /** Whether the gateway and the worker open an inspector. */
  readonly inspect?: boolean
}

/** The whole road on this machine: private Redis, gateway, worker and a minimal API, each a process of its own. */
export interface Rig {
  readonly port: number
  readonly redisUrl: string
  readonly processes: ReadonlyMap<string, number>
  readonly api: ChildProcess
  /** Addresses of the inspectors of the gateway and the worker, where asked for. */
  readonly inspectors: readonly string[]
  /** Positions that the API has answered, and requests. */
  progress(): { readonly positions: number; readonly requests: number }
  /** A counter of the gateway's metrics, all labels summed up. */
  metric(name: string): Promise<number>
  stop(): Promise<void>
}

export async function startRig(options: RigOptions): Promise<Rig> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-bench-'))
  const redis = await startRedis(dir, options)
  const api = fork(join(HERE, 'api.ts'), [String(options.apiDelayMs), options.keepSamples ? 'samples' : ''])
  const { port: apiPort } = await messageOf<{ port: number }>(api, 'ready')
  const [port, gatewayMonitor, workerMonitor] = await freePorts(3)
  const roles = [
    ['gateway', gatewayMonitor],
    ['worker', workerMonitor],
  ] as const
  const children = await Promise.all(
    roles.map(async ([role, monitor]) => {
      const config = join(dir, role)
      await writeConfig(config, { ...options, port, apiPort, monitor, redis: redis.settings })
      return startRole(role, { config, monitor, inspect: options.inspect ?? false })
    }),
  )
  let progress = { positions: 0, requests: 0 }
  api.on('message', (sent: { type: string; positions: number; requests: number }) => {
    if (sent.type === 'progress') progress = sent
  })
  return {
    port,
    redisUrl: redis.url,
    processes: new Map([
      ['gateway', pidOf(children[0].child)],
      ['worker', pidOf(children[1].child)],
      ['redis', redis.pid],
      ['api', pidOf(api)],
    ]),
    api,
    inspectors: children.flatMap(({ inspector }) => inspector ?? []),
    progress: () => progress,
    metric: async (name) => sumOf(name, await (await fetch(`http://127.0.0.1:${gatewayMonitor}/metrics`)).text()),
    async stop() {
      for (const each of [...children.map(({ child }) => child), api]) await endChild(each)
      await redis.stop()
      await rm(dir, { recursive: true, force: true })
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

/** CPU time of processes so far, ms each. */
export async function cpuTimes(processes: ReadonlyMap<string, number>): Promise<Map<string, number>> {
  const times = new Map<string, number>()
  for (const [name, pid] of processes) {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ')
    times.set(name, (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK)
  }
  return times
}

/** Resident memory of a process, bytes. */
export async function residentBytes(pid: number): Promise<number> {
  return Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}

export function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('a process of the bench could not be started')
  return pid
}

interface RoleConfig extends RigOptions {
  readonly port: number
  readonly apiPort: number
  readonly monitor: number
  /** For gateway.yaml. */
  readonly redis: string
}

async function writeConfig(dir: string, config: RoleConfig): Promise<void> {
  await mkdir(dir)
  const yaml = `
redis: ${config.redis}
data_dir: ${dir}
listeners: [{ transport: tcp, port: ${config.port}, protocol: ${config.protocol ?? 'teltonika'}, host: 127.0.0.1 }]
mqtt: { broker: null }
tracking: { base_url: "http://127.0.0.1:${config.apiPort}" }
companies: [{ company_id: 7, apikey: bench }]
push: { concurrency: ${config.concurrency} }
monitor: { port: ${config.monitor} }
filter: { max_age: 876000h }
limits: { max_connections_per_ip: 20000 }
log: { level: warn, format: json }
`
  const devices = Array.from({ length: config.vans }, (_, i) => `${350_000_000_000_000 + i},7,${i + 1},${i + 1}`)
  await writeFile(join(dir, 'gateway.yaml'), yaml)
  await writeFile(join(dir, 'devices.csv'), `device,company_id,courier_id,route_id\n${devices.join('\n')}\n`)
}

interface RoleStart {
  readonly config: string
  readonly monitor: number
  readonly inspect: boolean
}

async function startRole(role: string, { config, monitor, inspect }: RoleStart) {
  const flags = inspect ? ['--inspect=127.0.0.1:0'] : []
  const stdio = ['inherit', 'inherit', inspect ? 'pipe' : 'inherit'] as const
  const child = spawn(process.execPath, [...flags, CLI, role, '--config', config], { stdio: [...stdio] })
  killAtEnd(child)
  const inspector = inspect ? await inspectorOf(child) : undefined
  const isReady = async () => (await fetch(`http://127.0.0.1:${monitor}/readyz`)).ok
  if (await untilSo(isReady, { withinMs: READY_MS })) return { child, inspector }
  throw new Error(`${role} does not become ready`)
}

/** A counter in the text of metrics, all labels summed up. */
export function sumOf(name: string, text: string): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

const HERE = fileURLToPath(new URL('.', import.meta.url))
const MS_PER_TICK = 10
const READY_MS = 60_000
