import { getPriority, setPriority } from 'node:os'
import { within } from '../../async.ts'
import { Replica } from '../../roster/replica.ts'
import type { Store } from '../../store/index.ts'
import { openStore, type Role, type RoleAddresses } from '../role.ts'
import type { Live } from './live.ts'

export interface AdminAddresses extends Omit<RoleAddresses, 'baseUrl'> {
  /** Resolves to the URL of the tracking API. Called once the files are compared with the roster, when gateways begin. */
  readonly baseUrl: () => Promise<string>
}

/** The process that follows the files of the roster, and serves the admin port. */
export async function startAdmin(live: Live, at: AdminAddresses): Promise<Role> {
  const redis = openStore(at.redisServer, 'admin', live.logger)
  await firstComparison(live, redis)
  const asked = at.baseUrl()
  yieldToDevices(live)
  const baseUrl = await asked
  // Loaded only now: what devices wait for comes first.
  const { openAdminPort } = await import('./admin-port.ts')
  return openAdminPort(live, redis, { ...at, baseUrl })
}

/**
 * Resolves once the files have been compared with the roster: under `start` gateways and workers begin after that. If
 * Redis is away or takes no write, the admin port opens without the comparison.
 */
async function firstComparison(live: Live, redis: Store): Promise<void> {
  const compared = live.join(new Replica(redis, live.logger))
  for (let waits = 0; waits < MOST_WAITS && !live.complete; waits++) {
    await within(WAIT_MS, compared)
    if (redis.status !== 'ready') return
  }
}

/**
 * Lowers the priority of this process: if cores are scarce, devices come before users of the admin port. Not before the files
 * are compared, because gateways wait for this process until then. It is only a hint, which the systemd unit forbids.
 */
function yieldToDevices({ logger }: Live): void {
  try {
    setPriority(Math.max(getPriority(), PRIORITY))
  } catch (error) {
    logger.debug({ reason: (error as Error).message }, 'the admin process keeps its priority')
  }
}

/** The niceness of the admin process. */
const PRIORITY = 5
const WAIT_MS = 3000
const MOST_WAITS = 20
