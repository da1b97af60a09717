import { isPrivate, type RedisPlace } from '../../config/redis.ts'
import type { Config } from '../../config/schema.ts'
import { readGatewayProblems } from '../../store/gateways.ts'
import { durabilityProblems, missingReplicas, type Store } from '../../store/index.ts'
import { memoryInfos, memoryProblems } from '../../store/memory.ts'
import { english } from '../../texts/text.ts'
import type { Readiness } from '../monitor.ts'

type RedisSettings = RedisPlace & Readonly<Pick<Config['redis'], 'durability'>>

/**
 * Checks that Redis answers and, unless it is the private one or `durability` is `relaxed`, that its settings keep
 * acknowledged data.
 */
export function redisReadiness(redis: Store, settings: RedisSettings) {
  const isVerified = !isPrivate(settings) && settings.durability === 'strict'
  const problemsNow = async () => {
    await redis.inShards((shard) => shard.ping())
    return [
      ...(isVerified ? await durabilityProblems(redis.shards) : []),
      ...(await missingReplicas(redis.shards)),
    ].map(english)
  }
  return (): Promise<Readiness> => problemsNow().then(readinessOf, () => readinessOf([NO_ANSWER]))
}

/** Checks that this process is ready, that Redis has memory left, and that every gateway acknowledges what it receives. */
export function systemReadiness(own: () => Promise<Readiness>, redis: Store, stopAt: number) {
  const memoryProblemsNow = async () => (await memoryInfos(redis)).flatMap((info) => memoryProblems(info, stopAt))
  return async (): Promise<Readiness> => {
    const others = [memoryProblemsNow(), readGatewayProblems(redis)].map((problems) => problems.catch(() => []))
    const [{ problems }, memory, gateways] = await Promise.all([own(), ...others])
    return readinessOf([...new Set([...problems, ...memory, ...gateways])])
  }
}

export function readinessOf(problems: readonly string[]): Readiness {
  return { ok: problems.length === 0, problems }
}

const NO_ANSWER = 'Redis does not answer: nothing is stored and nothing acknowledged until it does'
