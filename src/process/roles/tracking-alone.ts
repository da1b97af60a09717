import { problemText } from '../../config/problem.ts'
import {
  loadTracking,
  type TrackingConfig,
  type TrackingRead,
  trackingFile,
  watchTracking,
} from '../../config/tracking.ts'
import { createLogger, type Logger } from '../../observe/log.ts'
import { metrics } from '../../observe/metrics.ts'
import type { Provisioning } from '../../tracking/provisioning.ts'
import { type Role, runRole } from '../role.ts'
import { openService } from './tracking-service.ts'

/**
 * Runs the tracking service on tracking.yaml alone as this process, to the process' end; answers false where there is no
 * such file. @throws ConfigError.
 */
export async function runTrackingAlone(dir: string): Promise<boolean> {
  const config = await loadTracking(dir)
  if (!config) return false
  const logger = createLogger('tracking', config.log)
  runRole({ name: 'tracking', logger, monitor: config.monitor }, () => startTrackingAlone(dir, config, logger))
  return true
}

async function startTrackingAlone(dir: string, config: TrackingConfig, logger: Logger): Promise<Role> {
  const service = await openService(config.data_dir, {
    listen: config.listen,
    provisioning: provisioningOf(config),
    timeLimitMs: config.time_limit,
    logger,
  })
  metrics.configReloadSuccessful.set(1)
  const watching = watchTracking(dir, config, (change) => {
    metrics.configReloadSuccessful.set(change.config ? 1 : 0)
    const whole = change.config !== undefined && service.provision(provisioningOf(change.config))
    report(change, { dir, config, logger, whole })
  })
  return {
    ports: { tracking: service.port },
    async close() {
      await watching.close()
      await service.close()
    },
  }
}

/** What the file has is what there is. */
function provisioningOf({ companies, routes }: TrackingConfig): Provisioning {
  return { companies, routes, exhaustive: true }
}

interface Running {
  readonly dir: string
  readonly config: TrackingConfig
  readonly logger: Logger
  /** Whether all that can take effect now has. */
  readonly whole: boolean
}

function report({ config, problems }: TrackingRead, running: Running): void {
  const { dir, logger } = running
  for (const problem of problems) logger.error(problemText(problem))
  if (!config) return logger.error(`${trackingFile(dir)} is not in effect: what was before stays`)
  const differ = AT_NEXT_START.filter((key) => JSON.stringify(config[key]) !== JSON.stringify(running.config[key]))
  if (differ.length > 0) logger.warn(`${differ.join(', ')}: takes effect at the next start`)
  if (running.whole) logger.info('configuration reloaded')
}

const AT_NEXT_START = ['listen', 'data_dir', 'time_limit', 'monitor', 'log'] as const
