import { fileURLToPath } from 'node:url'
import { protocols } from '../../../protocols/index.ts'
import { createLogger } from '../../observe/log.ts'
import { loadConfig } from '../../roster/load.ts'
import { supervise } from '../supervise.ts'
import type { Supervision } from '../supervisor.ts'

/** Runs everything on the configuration of a folder; answers with the exit code. @throws ConfigError, UserError. */
export async function start(dir: string): Promise<number> {
  return supervise(await supervision(dir))
}

/** What is to run for the configuration of a folder. @throws ConfigError. */
export async function supervision(dir: string): Promise<Supervision> {
  const { config } = await loadConfig(dir, protocols)
  return {
    dataDir: config.data_dir,
    redis: config.redis.url === null ? { maxMemory: config.redis.max_memory } : null,
    roles: { tracking: config.tracking.base_url === null ? 1 : 0, worker: config.workers, admin: 1, gateway: 1 },
    command: (role) => [CLI, role, '--config', dir],
    logger: createLogger('start', config.log),
  }
}

const CLI = fileURLToPath(new URL('../../cli/index.ts', import.meta.url))
