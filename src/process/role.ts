import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client'
import { explainError, UserError } from '../errors.ts'
import type { ProcessIdentity, RedisServer } from '../lanes/index.ts'
import { unusableData } from '../lanes/format.ts'
import { watchEventLoop } from '../observe/event-loop.ts'
import { collectNodeMetrics, registry } from '../observe/metrics.ts'
import type { SocketFiles } from './held-sockets.ts'
import { shareDataDir } from './lock.ts'
import type { MonitorOptions, Readiness } from './monitor.ts'
import { endOnRequest } from './signals.ts'

/** A role that is ready. */
export interface Role {
  readonly ports?: Ports
  /** Says whether the role is ready; without it, the role is always ready. */
  readonly readiness?: () => Promise<Readiness>
  /** Stops accepting, finishes what has begun, closes. */
  close(): Promise<void>
}

/** What a role gets at its start. */
export interface RoleContext {
  /** The private Redis; null: use the one in the configuration. */
  readonly redisUrl: string | null
  /** What listens where under this `start`; where a role may choose a port, it takes the one that it has here. */
  readonly ports: Ports
  /** The number of the process in its role, and how often it was started again; empty if the role runs on its own. */
  readonly identity?: RoleIdentity
  /** Sockets that it has inherited. */
  readonly sockets?: SocketFiles
}

/** `count`: how many processes of the role there are. */
type RoleIdentity = Pick<ProcessIdentity, 'slot' | 'restarts' | 'restartsAt'> & { readonly count: number }

/** Where a role finds what it needs. */
export interface RoleAddresses extends Omit<RoleContext, 'redisUrl'> {
  readonly redisServer: RedisServer
  /** The tracking API's. */
  readonly baseUrl: string
}

/** What a process listens on (`tcp/teltonika`, `mqtt`, `admin` …), and the port. */
export type Ports = Record<string, number>

/** The metrics of one process, as `registry.getMetricsAsJSON()` returns them. */
export type Metrics = MetricObjectWithValues<MetricValue<string>>[]

/** From a role's process to its supervisor. `failed`, in place of `ready`: a sentence that tells the user what to change. */
export type FromRole =
  | { readonly type: 'ready'; readonly ports: Ports }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'metrics'; readonly metrics: Metrics }
  | { readonly type: 'collect' }

export type ToRole = { readonly type: 'ask_metrics' } | { readonly type: 'collected'; readonly processes: Metrics[] }

/** The environment variable by which the supervisor gives a role's process its settings, as JSON. */
export const ROLE_SETTINGS = 'WAYBRIDGE_ROLE_SETTINGS'

export interface RoleSettings extends RoleContext {
  readonly dataDir: string
}

/**
 * Runs a role as this process, under `start` or on its own, until the process ends: exit 0 when all is closed after a
 * signal or after the supervisor's end, 130 or 143 when a second signal or 10 s cut that short, 1 for a UserError, 2 for a
 * fault. On its own it serves `/healthz`, `/readyz` and `/metrics` on `monitor`.
 */
export function runRole(logger: Logger, monitor: MonitorOptions, start: (context: RoleContext) => Promise<Role>): void {
  process.umask(0o077)
  // Only the stack: the properties of an error may contain a URL with a key.
  const fault: (error: unknown) => never = (error) => {
    logger.fatal({ stack: error instanceof Error ? error.stack : String(error) }, 'fault')
    process.exit(2)
  }
  process.on('uncaughtException', fault).on('unhandledRejection', fault)
  collectNodeMetrics()
  const started = begin(monitor, start)
  process.on('message', (message: ToRole) => {
    if (message.type !== 'ask_metrics') return
    void registry.getMetricsAsJSON().then((metrics) => tellSupervisor({ type: 'metrics', metrics }))
  })
  endOnRequest(async () => {
    logger.info('closing')
    await (await started).close()
  }, fault)
  started
    .then(({ ports = {} }) => {
      // The event loop is watched only from now on: a start blocks it for longer, and nothing waits for the process
      // yet.
      watchEventLoop(String(logger.bindings().role))
      logger[process.connected ? 'debug' : 'info']({ ports }, 'ready')
      return tellSupervisor({ type: 'ready', ports })
    })
    .catch((error) => {
      const known = explainError(error)
      if (!(known instanceof UserError)) fault(error)
      return refuse(known.message)
    })
  void unusableData.then(refuse)
}

/** Ends the process: the user has to act. */
async function refuse(message: string): Promise<void> {
  if (!process.connected) process.stderr.write(`${message}\n`)
  await tellSupervisor({ type: 'failed', message })
  process.exit(1)
}

/** Whether `start` runs this process; call it before `runRole`. */
export function isSupervised(): boolean {
  return process.env[ROLE_SETTINGS] !== undefined
}

/**
 * The metrics as text for Prometheus. Under `start`: the sum of all processes; of a process that does not answer, the last
 * known metrics. On its own, or if the supervisor does not answer: of this process.
 */
export async function collectMetrics(): Promise<string> {
  if (!process.connected) return registry.metrics()
  const collected = Promise.withResolvers<string | undefined>()
  const listen = (message: ToRole) => {
    if (message.type === 'collected') collected.resolve(AggregatorRegistry.aggregate(message.processes).metrics())
  }
  process.on('message', listen)
  void tellSupervisor({ type: 'collect' })
  const text = await Promise.race([collected.promise, delay(COLLECT_MS, undefined, { ref: false })])
  process.off('message', listen)
  return text ?? registry.metrics()
}

async function begin(monitor: MonitorOptions, start: (context: RoleContext) => Promise<Role>): Promise<Role> {
  const settings = takeSettings()
  if (settings) shareDataDir(settings.dataDir)
  const role = await start(settings ?? { redisUrl: null, ports: {} })
  if (settings) return role
  const { startMonitor } = await import('./monitor.ts')
  const { port, close } = await startMonitor(monitor, role.readiness ?? alwaysReady)
  const closeBoth = async () => void (await Promise.all([role.close(), close()]))
  return { ports: { ...role.ports, monitor: port }, close: closeBoth }
}

/** Removes it from the environment: it is for this process alone. */
function takeSettings(): RoleSettings | undefined {
  const text = process.env[ROLE_SETTINGS]
  delete process.env[ROLE_SETTINGS]
  return text === undefined ? undefined : (JSON.parse(text) as RoleSettings)
}

/** Resolves once the message is sent, or if there is no supervisor. */
function tellSupervisor(message: FromRole): Promise<void> {
  return new Promise((resolve) => {
    if (process.send && process.connected) process.send(message, undefined, undefined, () => resolve())
    else resolve()
  })
}

const alwaysReady = () => Promise.resolve({ ok: true, problems: [] })
const COLLECT_MS = 2500
