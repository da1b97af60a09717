import { existsSync } from 'node:fs'

/** The folder of a configuration for the whole machine. */
export const SYSTEM_CONFIG = '/etc/waybridge'

/** For the help of `--config`. */
export const CONFIG_DEFAULT = `"config", or ${SYSTEM_CONFIG} if there is none`

export const CONFIG_OPTION = `the folder with gateway.yaml (default: ${CONFIG_DEFAULT})`

/** Returns the configuration folder for a command without an option for it. */
export function defaultConfigDir(): string {
  return !existsSync('config') && existsSync(SYSTEM_CONFIG) ? SYSTEM_CONFIG : 'config'
}
