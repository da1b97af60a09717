import { trackingTls } from '../../config/certificate.ts'
import type { Config } from '../../config/schema.ts'
import { startPushing } from '../../push/index.ts'
import { Replica } from '../../roster/replica.ts'
import { signOn } from '../../store/index.ts'
import { createTrackingClient } from '../../tracking/client.ts'
import { openStore, type Role, type RoleAddresses } from '../role.ts'
import { type Live, placeIn } from './live.ts'
import { redisReadiness } from './readiness.ts'

/** The process that pushes waiting positions to the tracking API at `baseUrl`. */
export async function startWorker(live: Live, { redisServer, baseUrl, identity }: RoleAddresses): Promise<Role> {
  const { config, logger } = live
  const redis = openStore(redisServer, 'worker', logger)
  void live.join(new Replica(redis, logger))
  const client = createTrackingClient({
    baseUrl,
    pushUrl: config.tracking.push_url,
    timeoutMs: config.push.timeout,
    connections: config.push.concurrency,
    tls: trackingTls(config.tracking),
  })
  const pushing = startPushing({
    redis,
    client,
    place: placeIn(live),
    apikeys: apikeysOf(live.companies()),
    batch: config.batch,
    keep: config.keep,
    push: config.push,
    zone: config.time_zone,
    logger,
  })
  live.follow({
    roster: (changed) => pushing.rosterChanged(changed),
    companies: () => pushing.setApikeys(apikeysOf(live.companies())),
  })
  const sharing = signOn(redis, { ...identity, role: 'worker', installation: config.data_dir }, () => ({
    ...pushing.figures(),
    url: new URL(config.tracking.push_url ?? baseUrl).origin,
  }))
  return {
    readiness: redisReadiness(redis, config.redis),
    async close() {
      await Promise.all([pushing.stop(), sharing.stop()])
      await live.close()
      redis.disconnect()
    },
  }
}

function apikeysOf(companies: Config['companies']): Map<string, readonly string[]> {
  return new Map(companies.map(({ company_id, apikey }) => [company_id, [apikey].flat()]))
}
