import { statfs } from 'node:fs/promises'
import { within } from '../async.ts'
import type { RedisFacts } from '../diagnose/facts.ts'
import { durabilityProblems, type Shard, type Store } from '../store/index.ts'
import { memoryInfos, unlimitedMemory } from '../store/memory.ts'
import { english, joined, say, type Text } from '../texts/text.ts'

export interface RedisSources {
  readonly redis: Store
  /** Whether this Redis must keep acknowledged data and is not the private one. */
  readonly isVerified: boolean
  /** The folder of the private Redis; null: Redis' disk is unknown. */
  readonly redisDir: string | null
}

/** Looks at the settings, the memory limit, the disk and the restarts of Redis. */
export class RedisCollector {
  facts: RedisFacts = {}
  #runId: string | undefined
  #restartsAt: readonly number[] = []

  async look({ redis, isVerified, redisDir }: RedisSources, now: number): Promise<void> {
    const [server, persistence, memory, unsafe, disk] = await Promise.all([
      redis.info('server'),
      redis.info('persistence'),
      memoryInfos(redis),
      isVerified ? durabilityProblems(redis.shards) : [],
      shortageOf(redisDir),
    ])
    const runId = /^run_id:(\w+)/m.exec(server)?.[1]
    if (this.#runId !== undefined && runId !== this.#runId) this.#restartsAt = [...this.#restartsAt.slice(-9), now]
    this.#runId = runId
    if (/^aof_last_write_status:err/m.test(persistence)) disk.push(say('Redis cannot write its append-only file'))
    const isUnrewritten = /^aof_last_bgrewrite_status:err/m.test(persistence)
    this.facts = { unsafe, unlimited: unlimitedMemory(memory), disk, isUnrewritten, restartsAt: this.#restartsAt }
  }
}

/** Whether the disk with a folder is nearly full, as a sentence. */
export async function shortageOf(dir: string | null): Promise<Text[]> {
  const disk = dir === null ? undefined : await statfs(dir).catch(() => undefined)
  if (!disk || disk.bavail * disk.bsize >= LEAST_FREE_BYTES) return []
  return [say('{}: {} MiB are left', dir ?? '', Math.floor((disk.bavail * disk.bsize) / 1_048_576))]
}

/**
 * Closes a connection that gives no answer: waiting calls fail now and not after the command time-out, and the next call gets
 * a new connection. @throws if Redis does not answer within two seconds
 */
export async function answering(redis: Store): Promise<void> {
  await redis.inShards(shardAnswering)
}

async function shardAnswering(shard: Shard): Promise<void> {
  if (shard.status === 'connect') throw new NoAnswer(SILENT)
  if (shard.status !== 'ready') {
    throw new NoAnswer(joined([say('there is no connection to Redis'), shard.trouble ?? []].flat(), ': '))
  }
  let isAnswered = false
  await within(
    ANSWER_MS,
    shard.ping().then(() => (isAnswered = true)),
  )
  if (isAnswered) return
  shard.stream.destroy()
  throw new NoAnswer(SILENT)
}

/** Why Redis does not answer. */
export class NoAnswer extends Error {
  readonly text: Text

  constructor(text: Text) {
    super(english(text))
    this.text = text
  }
}

const SILENT = say('Redis is connected and does not answer')

const ANSWER_MS = 2000
/** Room for the appends of some minutes of a large fleet, and for the operations that free more. */
const LEAST_FREE_BYTES = 256 * 1_048_576
