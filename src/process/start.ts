import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { pageAddress, portAddress, tokenFile } from '../admin/access.ts'
import type { Config } from '../config/schema.ts'
import type { Address } from './held-sockets.ts'
import type { Ports } from './role.ts'
import { ServiceManager } from './service-manager.ts'
import { EXIT_CODES, onSignals, type StopSignal } from './signals.ts'
import { type Supervision, Supervisor } from './supervisor.ts'

/** Runs everything on the configuration of a folder; returns the exit code. @throws ConfigError, UserError. */
export async function start(configDir: string): Promise<number> {
  const { what, config } = await readSupervision(configDir)
  return supervise(what, (ports) => announcePage(what, config, ports))
}

/** Returns what to run for the configuration of a folder. @throws ConfigError. */
export async function supervision(configDir: string): Promise<Supervision> {
  return (await readSupervision(configDir)).what
}

async function readSupervision(configDir: string): Promise<{ what: Supervision; config: Config }> {
  const { protocolPorts } = await import('../../protocols/index.ts')
  const { isPrivate } = await import('../config/redis.ts')
  const { loadConfig } = await import('../config/files.ts')
  const { createLogger } = await import('../observe/log.ts')
  const { config } = await loadConfig(configDir, protocolPorts)
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
    held: heldAddresses(config),
    logger: createLogger('start', config.log),
  }
  return { what, config }
}

/** Several gateways share their ports: where one ends, the others take its connections. */
function heldAddresses({ gateways, listeners, mqtt: { broker } }: Config): Address[] {
  if (gateways > 1) return []
  const ofBroker = broker ? [broker, ...(broker.tls ? [{ host: broker.host, port: broker.tls_port }] : [])] : []
  return [...listeners.filter(({ transport }) => transport !== 'udp'), ...ofBroker].filter(({ port }) => port > 0)
}

/** Says where the page is. With the token that waybridge made only on a terminal: no log contains a token. */
async function announcePage({ logger }: Supervision, { admin, data_dir, log }: Config, ports: Ports): Promise<void> {
  const url = portAddress(admin, ports.admin)
  const isForPeople = process.stderr.isTTY && log.format !== 'json' && admin.tokens.length === 0
  if (!isForPeople) return logger.info(`page ${url}/: it asks for a token of the admin port`)
  process.stderr.write(`\n  Page: ${pageAddress(url, await readFile(tokenFile(data_dir), 'utf8'))}\n\n`)
}

/**
 * Runs everything until a signal; returns the exit code: 0 when all is closed in order, 130, 143 or 129 when a second
 * signal or the limit of 10 s cuts that short. Calls `onReady` once everything is ready. Rejects with the UserError that prevents the start, with nothing left running.
 */
export async function supervise(what: Supervision, onReady?: (ports: Ports) => Promise<void>): Promise<number> {
  const first = Promise.withResolvers<StopSignal>()
  const second = new AbortController()
  const { logger } = what
  onSignals(first.resolve, (signal) => {
    logger.warn({ reason: signal }, 'second signal: killing what still runs')
    second.abort()
  })
  const supervisor = new Supervisor(what)
  const manager = new ServiceManager(process.env, logger)
  try {
    const ports = await Promise.race([supervisor.ready, first.promise])
    if (typeof ports !== 'string') {
      const open = Object.entries(ports).map(([name, port]) => `${name} ${port}`)
      logger.info(`ready: ${open.join(', ')}`)
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

const CLI = fileURLToPath(new URL('../cli/index.ts', import.meta.url))
