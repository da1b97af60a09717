import { connect } from '../../lanes/index.ts'
import { startPushing } from '../../push/index.ts'
import { createTrackingClient } from '../../tracking/client.ts'
import type { Role } from '../role.ts'
import type { Live } from './live.ts'
import { placeIn } from './place.ts'
import { redisReadiness } from './readiness.ts'

/** The process that pushes waiting positions to the tracking API at `baseUrl`. */
export function startWorker(live: Live, redisUrl: string, baseUrl: string): Role {
  const { config, logger } = live
  const redis = connect(redisUrl, 'worker', logger)
  void live.join(redis)
  const client = createTrackingClient({
    baseUrl,
    pushUrl: config.tracking.push_url,
    timeoutMs: config.push.timeout,
    connections: config.push.concurrency,
  })
  const pushing = startPushing({
    redis,
    redisUrl,
    client,
    place: placeIn(live),
    apikeyOf: (company) => live.companies().find(({ company_id }) => company_id === company)?.apikey,
    batch: config.batch,
    push: config.push,
    logger,
  })
  live.follow(() => pushing.configured())
  return {
    readiness: redisReadiness(redis, config.redis, logger),
    async close() {
      await pushing.stop()
      await live.close()
      redis.disconnect()
    },
  }
}
