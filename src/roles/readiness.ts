import type { Redis } from '../lanes/index.ts'
import type { Readiness } from '../run/monitor.ts'

/** Ready while Redis answers. */
export function redisReadiness(redis: Redis): () => Promise<Readiness> {
  return () =>
    redis.ping().then(
      () => ({ ok: true, problems: [] }),
      () => ({
        ok: false,
        problems: ['Redis does not answer: nothing is stored and nothing acknowledged until it does'],
      }),
    )
}
