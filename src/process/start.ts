import { fileURLToPath } from 'node:url'
import { EXIT_CODES, onSignals, type StopSignal } from './signals.ts'
import { type Supervision, Supervisor } from './supervisor.ts'

/** Runs everything on the configuration of a folder; returns the exit code. @throws ConfigError, UserError. */
export async function start(configDir: string): Promise<number> {
  return supervise(await supervision(configDir))
}

/** Returns what to run for the configuration of a folder. @throws ConfigError. */
export async function supervision(configDir: string): Promise<Supervision> {
  const { protocolPorts } = await import('../../protocols/index.ts')
  const { loadConfig } = await import('../config/files.ts')
  const { createLogger } = await import('../observe/log.ts')
  const { config } = await loadConfig(configDir, protocolPorts)
  return {
    dataDir: config.data_dir,
    redis: config.redis.url === null ? { maxMemory: config.redis.max_memory } : null,
    roles: { tracking: config.tracking.base_url === null ? 1 : 0, worker: config.workers, admin: 1, gateway: 1 },
    command: (role) => [CLI, role, '--config', configDir],
    logger: createLogger('start', config.log),
  }
}

/**
 * Runs everything until a signal; returns the exit code: 0 when all is closed in order, 130, 143 or 129 when a second
 * signal or the limit of 10 s cuts that short. Rejects with the UserError that prevents the start, with nothing left running.
 */
export async function supervise(what: Supervision): Promise<number> {
  const first = Promise.withResolvers<StopSignal>()
  const second = new AbortController()
  const { logger } = what
  onSignals(first.resolve, (signal) => {
    logger.warn({ reason: signal }, 'second signal: killing what still runs')
    second.abort()
  })
  const supervisor = new Supervisor(what)
  try {
    const ports = await Promise.race([supervisor.ready, first.promise])
    if (typeof ports !== 'string') {
      const open = Object.entries(ports).map(([name, port]) => `${name} ${port}`)
      logger.info(`ready: ${open.join(', ')}`)
    }
  } catch (error) {
    await supervisor.stop(second.signal)
    throw error
  }
  const signal = await first.promise
  logger.info({ reason: signal }, 'stopping')
  return (await supervisor.stop(second.signal)) ? 0 : EXIT_CODES[signal]
}

const CLI = fileURLToPath(new URL('../cli/index.ts', import.meta.url))
