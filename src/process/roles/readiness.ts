import { durabilityProblems, type Redis } from '../../lanes/index.ts'
import type { Logger } from '../../observe/log.ts'
import type { Config } from '../../roster/load.ts'
import type { Readiness } from '../monitor.ts'

/**
 * Ready while Redis answers and, where it is not our own, keeps what it acknowledges, unless `durability: relaxed`. The log
 * says after each connecting why it would not.
 */
export function redisReadiness(
  redis: Redis,
  { url, durability }: Config['redis'],
  logger: Logger,
): () => Promise<Readiness> {
  const verified = url !== null && durability === 'strict'
  const problemsNow = async () => (verified ? durabilityProblems(redis) : redis.ping().then(() => []))
  const report = () => {
    problemsNow().then(
      (problems) => problems.forEach((problem) => logger.error(problem)),
      () => {},
    )
  }
  if (verified) redis.on('ready', report)
  if (verified && redis.status === 'ready') report()

  return () =>
    problemsNow().then(
      (problems) => ({ ok: problems.length === 0, problems }),
      () => ({ ok: false, problems: [NO_ANSWER] }),
    )
}

const NO_ANSWER = 'Redis does not answer: nothing is stored and nothing acknowledged until it does'
