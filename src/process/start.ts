import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Logger } from 'pino'
import { pageAddress, portAddress, tokenFile } from '../admin/access.ts'
import { AUTO } from '../config/listener.ts'
import { inGateway } from '../config/problem.ts'
import type { Config } from '../config/schema.ts'
import { VERSION } from '../version.ts'
import { type Address, activatedSockets } from './held-sockets.ts'
import type { Ports } from './role-process.ts'
import { EXIT_CODES, onSignals, type StopSignal } from './signals.ts'
import { type Supervision, Supervisor } from './supervisor.ts'

/** Runs everything on the configuration of a folder; returns the exit code. @throws ConfigError, UserError. */
export async function start(configDir: string): Promise<number> {
  const { what, config } = await readSupervision(configDir)
  what.logger.info({ version: VERSION }, 'starting')
  return supervise(what, (ports) => announcePage(what, config, ports))
}

/** Resolves to what to run for the configuration of a folder. @throws ConfigError. */
export async function supervision(configDir: string): Promise<Supervision> {
  return (await readSupervision(configDir)).what
}

async function readSupervision(configDir: string): Promise<{ what: Supervision; config: Config }> {
  const { protocolPorts } = await import('../../protocols/index.ts')
  const { isPrivate } = await import('../config/redis.ts')
  const { loadConfig } = await import('../config/files.ts')
  const { createLogger } = await import('../observe/log.ts')
  const { config } = await loadConfig(configDir, protocolPorts)
  const sockets = socketsOf(config)
  const what: Supervision = {
    dataDir: config.data_dir,
    redis: isPrivate(config.redis) ? { maxMemory: config.redis.max_memory } : null,
    roles: {
      tracking: config.tracking.base_url === null ? 1 : 0,
      worker: config.workers,
      admin: 1,
      gateway: config.gateways,
    },
    command: (role) => [CLI, role, '--config', configDir],
    ...sockets,
    logger: createLogger('start', config.log),
  }
  return { what, config }
}

/**
 * Returns the sockets to hold for the gateway; none for several gateways, which share their ports: if one ends, the others
 * take its connections. @throws ConfigError if the service manager has opened sockets that no gateway of this configuration
 * can listen on.
 */
function socketsOf({ gateways, listeners, mqtt: { broker } }: Config): Pick<Supervision, 'held' | 'activated'> {
  const activated = activatedSockets(process.env)
  if (gateways > 1 && activated.length > 0) throw inGateway(ONE_GATEWAY)
  if (gateways > 1) return {}
  const ofBroker = broker ? [broker, ...(broker.tls ? [{ host: broker.host, port: broker.tls_port }] : [])] : []
  const held = [...listeners, ...ofBroker.map((each) => ({ ...each, transport: 'tcp' as const }))]
    .filter(({ port }) => port > 0)
    .map(({ transport, host, port }): Address => ({ transport: transport === 'udp' ? 'udp' : 'tcp', host, port }))
  const isHeld = new Set(held.map(textOf))
  const unknown = activated.map(textOf).filter((each) => !isHeld.has(each))
  if (unknown.length > 0) throw inGateway(notListenedOn(unknown))
  return { held, activated }
}

/** `tcp 0.0.0.0:5000` */
function textOf({ transport, host, port }: Address): string {
  return `${transport} ${isIPv6(host) ? `[${host}]` : host}:${port}`
}

function notListenedOn(sockets: readonly string[]): string {
  return (
    `the service manager has opened ${sockets.join(', ')}, and no listener has that address: ` +
    'write the same in both, with ListenStream=0.0.0.0:5000 for host 0.0.0.0 and port 5000'
  )
}

/** Announces the address of the page; with waybridge's own token only on a terminal, because no log contains a token. */
async function announcePage({ logger }: Supervision, { admin, data_dir, log }: Config, ports: Ports): Promise<void> {
  const url = portAddress(admin, ports.admin)
  const isForPeople = process.stderr.isTTY && log.format !== 'json' && admin.tokens.length === 0
  if (!isForPeople) return logger.info(`page ${url}/: it asks for a token of the admin port`)
  process.stderr.write(`\n  Page: ${pageAddress(url, await readFile(tokenFile(data_dir), 'utf8'))}\n\n`)
}

/**
 * Runs everything until a signal; returns the exit code: 0 if all is closed in order; 130, 143 or 129 if a second signal or
 * the limit of 10 s cuts that short. Calls `onReady` once everything is ready. Rejects with the UserError that prevents the
 * start, with nothing left running.
 */
export async function supervise(what: Supervision, onReady?: (ports: Ports) => Promise<void>): Promise<number> {
  const first = Promise.withResolvers<StopSignal>()
  const second = new AbortController()
  const { logger } = what
  onSignals(first.resolve, (signal) => {
    logger.warn({ reason: signal }, 'second signal: killing what still runs')
    second.abort()
  })
  const manager = new ServiceManager(process.env, logger)
  const supervisor = new Supervisor({ ...what, loading: () => void manager.loading() })
  try {
    const ports = await Promise.race([supervisor.ready, first.promise])
    if (typeof ports !== 'string') {
      logger.info(`ready: ${portsText(ports)}`)
      await onReady?.(ports)
      await manager.ready((withinMs) => supervisor.answers(withinMs))
    }
  } catch (error) {
    await supervisor.stop(second.signal)
    throw error
  }
  const signal = await first.promise
  logger.info({ reason: signal }, 'stopping')
  const [isClean] = await Promise.all([supervisor.stop(second.signal), manager.stopping()])
  return isClean ? 0 : EXIT_CODES[signal]
}

/** `admin 8080, tcp/auto 5000, …`; of many the ports for a single protocol are only counted. */
function portsText(ports: Ports): string {
  const open = Object.entries(ports).map(([name, port]) => `${name} ${port}`)
  const first = open.filter((text) => !text.includes('/') || text.includes(`/${AUTO} `))
  const more = open.length - first.length
  if (more <= MOST_PORTS) return open.join(', ')
  return `${first.join(', ')}, and ${more} ports for a single protocol each: \`waybridge protocols\` lists them`
}

/**
 * Tells systemd that the service is ready and alive, if systemd wants to know (a unit with `Type=notify`). Uses the program
 * `systemd-notify`, because Node has no Unix datagram sockets: so the unit needs `NotifyAccess=all`.
 */
export class ServiceManager {
  readonly #environment: NodeJS.ProcessEnv
  readonly #logger: Logger
  #watchdog: NodeJS.Timeout | undefined
  #silent = false
  #extendAt = 0

  constructor(environment: NodeJS.ProcessEnv, logger: Logger) {
    this.#environment = environment
    this.#logger = logger
  }

  /**
   * Call it repeatedly while Redis loads its data, which has no time limit: systemd then waits beyond `TimeoutStartSec=`,
   * also for the steps after loading.
   */
  async loading(): Promise<void> {
    if (performance.now() < this.#extendAt) return
    this.#extendAt = performance.now() + EXTEND_EVERY_MS
    await this.#tell(`EXTEND_TIMEOUT_USEC=${EXTENSION_MS * 1000}`, 'STATUS=Redis loads its data')
  }

  /**
   * Call it when everything is ready. With `WatchdogSec=` in the unit, systemd restarts the service if `isAlive` has not
   * returned true for that time. It is called four times in this time, and has a quarter of it to answer.
   */
  async ready(isAlive: (withinMs: number) => Promise<boolean>): Promise<void> {
    this.#extendAt = Infinity
    await this.#tell('READY=1', 'STATUS=ready')
    const { WATCHDOG_USEC } = this.#environment
    if (!WATCHDOG_USEC) return
    const everyMs = Number(WATCHDOG_USEC) / 1000 / 4
    this.#watchdog = setInterval(() => void this.#beat(isAlive(everyMs)), everyMs)
  }

  async stopping(): Promise<void> {
    clearInterval(this.#watchdog)
    await this.#tell('STOPPING=1', 'STATUS=stopping')
  }

  async #beat(answered: Promise<boolean>): Promise<void> {
    const alive = await answered
    if (!alive && !this.#silent) this.#logger.error('a process does not answer: systemd restarts all if that lasts')
    this.#silent = !alive
    if (alive) await this.#tell('WATCHDOG=1')
  }

  async #tell(...assignments: string[]): Promise<void> {
    if (!this.#environment.NOTIFY_SOCKET) return
    await run('systemd-notify', assignments, { env: this.#environment, timeout: TELL_MS }).catch((error: Error) =>
      this.#logger.warn({ reason: error.message }, `systemd was not told ${assignments[0]}`),
    )
  }
}

const ONE_GATEWAY =
  'the service manager has opened sockets for waybridge, which one gateway alone can have: set gateways: 1, or end waybridge.socket'
const MOST_PORTS = 20
const CLI = fileURLToPath(new URL('../cli/index.ts', import.meta.url))
const run = promisify(execFile)
const TELL_MS = 5000
const EXTEND_EVERY_MS = 10_000
/** As long as `TimeoutStartSec=` of the unit. */
const EXTENSION_MS = 180_000
