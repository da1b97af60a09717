import type { Config } from '../../config/schema.ts'
import { memoryProblems } from '../../ingest/acceptance.ts'
import { readGatewayProblems } from '../../ingest/gateways.ts'
import { durabilityProblems, type Redis } from '../../lanes/index.ts'
import type { Logger } from '../../observe/log.ts'
import type { Readiness } from '../monitor.ts'

/**
 * Checks that Redis answers and, if it is not the private one, that its settings keep what it acknowledges, unless
 * `durability: relaxed`. After each connect the log says what is missing.
 */
export function redisReadiness(
  redis: Redis,
  { url, durability }: Config['redis'],
  logger: Logger,
): () => Promise<Readiness> {
  const isVerified = url !== null && durability === 'strict'
  const problemsNow = async () => (isVerified ? durabilityProblems(redis) : redis.ping().then(() => []))
  const report = () => {
    problemsNow().then(
      (problems) => problems.forEach((problem) => logger.error(problem)),
      () => {},
    )
  }
  if (isVerified) redis.on('ready', report)
  if (isVerified && redis.status === 'ready') report()
  return () => problemsNow().then(readinessOf, () => readinessOf([NO_ANSWER]))
}

/** Checks that this process is ready, that Redis has memory left, and that every gateway acknowledges what it receives. */
export function systemReadiness(own: () => Promise<Readiness>, redis: Redis, stopAt: number): () => Promise<Readiness> {
  return async () => {
    const [{ problems }, memory, gateways] = await Promise.all([
      own(),
      redis.info('memory').then(
        (info) => memoryProblems(info, stopAt),
        () => [],
      ),
      readGatewayProblems(redis).catch(() => []),
    ])
    return readinessOf([...new Set([...problems, ...memory, ...gateways])])
  }
}

export function readinessOf(problems: readonly string[]): Readiness {
  return { ok: problems.length === 0, problems }
}

const NO_ANSWER = 'Redis does not answer: nothing is stored and nothing acknowledged until it does'
