import { stat } from 'node:fs/promises'
import { loadGateway } from '../config/files.ts'
import { isPrivate } from '../config/redis.ts'
import { UserError } from '../errors.ts'
import { createLogger } from '../observe/log.ts'
import { type BackupOptions, backUp, restoreBackup } from '../process/backup.ts'
import { VERSION } from '../version.ts'

/** `waybridge backup FILE`. @returns the exit code @throws ConfigError, UserError */
export async function backupCommand(
  file: string,
  { config, withKept }: { readonly config: string; readonly withKept?: boolean },
): Promise<number> {
  const options = { ...(await optionsOf(config)), withKept }
  const { at } = await backUp(file, options)
  const { size } = await stat(file)
  process.stdout.write(
    `${file}: ${options.dataDir} as of ${at}, ${Math.ceil(size / 1024)} KiB. It holds positions and a token.\n`,
  )
  return 0
}

/** `waybridge restore FILE`. @returns the exit code @throws ConfigError, UserError */
export async function restoreCommand(file: string, configDir: string): Promise<number> {
  const options = await optionsOf(configDir)
  const { at, version } = await restoreBackup(file, options)
  process.stdout.write(
    `${options.dataDir} is as of ${at} (waybridge ${version}). Start it: what waited then is pushed now.\n`,
  )
  return 0
}

async function optionsOf(configDir: string): Promise<BackupOptions> {
  const config = await loadGateway(configDir)
  if (!isPrivate(config.redis))
    throw new UserError('Redis is your own here: back it up by its own means (BGSAVE, or a snapshot of its disk).')
  const { data_dir: dataDir, redis, log } = config
  return { dataDir, maxMemory: redis.max_memory, version: VERSION, logger: createLogger('backup', log) }
}
