import { text as textOf } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AggregatorRegistry } from 'prom-client'
import { ConfigError } from '../config/problem.ts'
import { EX_CONFIG, explainError, UserError } from '../errors.ts'
import { collectNodeMetrics, registry } from '../observe/metrics.ts'
import { measureEventLoop } from '../observe/trouble.ts'
import { connect, type RedisServer, type Store } from '../store/index.ts'
import { VERSION } from '../version.ts'
import { shareDataDir } from './data-dir.ts'
import type { MonitorOptions, Readiness } from './monitor.ts'
import { type FromRole, type Ports, type RoleContext, SUPERVISED, type ToRole } from './role-process.ts'
import { endOnRequest } from './signals.ts'

export interface Role {
  readonly ports?: Ports
  /** Reports whether the role is ready; without it, the role is always ready. */
  readonly readiness?: () => Promise<Readiness>
  /** Accepts no more work, finishes what has begun, closes. */
  close(): Promise<void>
}

export interface RoleAddresses extends Omit<RoleContext, 'redisUrl'> {
  readonly redisServer: RedisServer
  /** The tracking API's. */
  readonly baseUrl: string
}

/**
 * Runs a role as this process, under `start` or on its own, until the process ends. Exit 0: all was closed after a signal or
 * after the supervisor's end; 130 or 143: a second signal or 10 s cut that short; 78: a ConfigError; 1: a UserError; 2: a
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
  let ready: Role | undefined
  const started = begin(monitor, start)
  process.on('message', (message: ToRole) => {
    if (message.type !== 'ask_metrics') return
    void registry.getMetricsAsJSON().then((metrics) => tellSupervisor({ type: 'metrics', metrics }))
  })
  endOnRequest(async () => {
    logger.info('closing')
    // Before it is ready it may wait for others, which end as well.
    await ready?.close()
  }, fault)
  started
    .then((role) => {
      ready = role
      const { ports = {} } = role
      // The event loop is watched only from now on: a start blocks it longer, but nothing waits for the process yet.
      measureEventLoop(String(logger.bindings().role))
      logger[process.connected ? 'debug' : 'info']({ ports, version: VERSION }, 'ready')
      return tellSupervisor({ type: 'ready', ports })
    })
    .catch((error) => {
      const known = explainError(error)
      if (!(known instanceof UserError || known instanceof ConfigError)) fault(error)
      return refuse(known)
    })
}

/** Opens the store for a role; the process ends if it cannot work on the data there. */
export function openStore(server: RedisServer, role: string, logger: Logger): Store {
  const store = connect(server, role, logger)
  void store.unusable.then((message) => refuse(new UserError(message)))
  return store
}

/** Ends the process: the user has to act. */
async function refuse(error: UserError | ConfigError): Promise<void> {
  const { message } = error
  const mistakes = error instanceof ConfigError ? error.mistakes : undefined
  if (!process.connected) process.stderr.write(`${message}\n`)
  await tellSupervisor({ type: 'failed', message, mistakes })
  process.exit(mistakes ? EX_CONFIG : 1)
}

/** Whether `start` runs this process; call it before `runRole`. */
export function isSupervised(): boolean {
  return process.env[SUPERVISED] !== undefined
}

/** Resolves to the text of gateway.yaml that was in effect when `start` ran this process again; undefined at its first start. */
export async function settingsInEffect(): Promise<string | undefined> {
  return (isSupervised() && (await textOf(process.stdin))) || undefined
}

/** Reports the text of gateway.yaml that is in effect. */
export function tellSettings(text: string): void {
  if (isSupervised()) void tellSupervisor({ type: 'settings', text })
}

/**
 * Resolves to the metrics as text for Prometheus. Under `start`: the sum over all processes, with the last known metrics of
 * one that does not answer. On its own, or if the supervisor does not answer: those of this process.
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

/**
 * Says that the files are written to the roster: under `start` gateways begin now. Resolves with the ports of this `start` once
 * the tracking service is ready; on its own with `ports`.
 */
export async function filesCompared(ports: Ports): Promise<Ports> {
  if (!isSupervised()) return ports
  const opened = messageOf('ports')
  void tellSupervisor({ type: 'compared' })
  return (await opened).ports
}

async function begin(monitor: MonitorOptions, start: (context: RoleContext) => Promise<Role>): Promise<Role> {
  const settings = isSupervised() ? (await messageOf('begin')).settings : undefined
  if (settings) shareDataDir(settings.dataDir)
  const role = await start(settings ?? { redisUrl: null, ports: {} })
  if (settings) return role
  const { startMonitor } = await import('./monitor.ts')
  const { port, close } = await startMonitor(monitor, role.readiness ?? alwaysReady)
  const closeBoth = async () => void (await Promise.all([role.close(), close()]))
  return { ports: { ...role.ports, monitor: port }, close: closeBoth }
}

/** Resolves to the next message of a type; never if the supervisor ends before it. */
function messageOf<Type extends ToRole['type']>(type: Type): Promise<Extract<ToRole, { readonly type: Type }>> {
  return new Promise((resolve) => {
    process.on('message', function listen(message: ToRole) {
      if (message.type !== type) return
      process.off('message', listen)
      resolve(message as Extract<ToRole, { readonly type: Type }>)
    })
  })
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
