import { markInAllShards } from './held.ts'
import { countRecords, type Part, type Storable } from './record.ts'
import type { Redis } from './redis.ts'
import { deviceShardNumber, shardNumber, shardsOf } from './shards.ts'
import { Appender, type AppenderOptions, type Stored } from './store.ts'

/** What stores the fixes of a gateway. */
export type FixAppender = Pick<Appender, 'append' | 'count' | 'close'>

/** Stores the fixes of a gateway in all shards. `options`: as for one shard. */
export function openAppender(redis: Redis, options: AppenderOptions): FixAppender {
  return shardsOf(redis).length === 1 ? new Appender(redis, options) : new ShardedAppender(redis, options)
}

/** An appender for each shard: each part of an item goes to that of its lane, or of its device where it is held. */
class ShardedAppender implements FixAppender {
  readonly #redis: Redis
  readonly #appenders: readonly Appender[]

  constructor(redis: Redis, options: AppenderOptions) {
    this.#redis = redis
    this.#appenders = shardsOf(redis).map((shard) => new Appender(shard, options))
  }

  /**
   * Resolves once all shards have stored their parts. If one fails, the caller stores the item again, and the other
   * shards drop the repeats.
   */
  async append(item: Storable): Promise<Stored> {
    const pieces = this.#split(item)
    const outcomes = await Promise.allSettled(pieces.map(([shard, piece]) => this.#appenders[shard].append(piece)))
    const stored = outcomes.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason
      return outcome.value
    })
    const versions = stored.flatMap(({ releasedBy }) => releasedBy ?? [])
    if (versions.length > 0) await markInAllShards(this.#redis, Math.max(...versions), [item.parts[0].device])
    return {
      duplicates: stored.reduce((sum, { duplicates }) => sum + duplicates, 0),
      refused: stored.some(({ refused }) => refused),
    }
  }

  count(filtered: readonly string[]): void {
    this.#appenders[0].count(filtered)
  }

  async close(): Promise<void> {
    await Promise.all(this.#appenders.map((appender) => appender.close()))
  }

  /** The first piece counts what is not stored as well. */
  #split(item: Storable): [shard: number, Storable][] {
    const pieces = [...Map.groupBy(item.parts, (part) => this.#shardOf(part))]
    return pieces.map(([shard, parts], index) => {
      const [received, filtered] = index === 0 ? [item.filtered.length, item.filtered] : [0, []]
      const records = parts.reduce((sum, part) => sum + countRecords(part.records), received)
      return [shard, { parts, received: records, filtered }]
    })
  }

  #shardOf(part: Part): number {
    return 'lane' in part ? shardNumber(this.#redis, part.lane) : deviceShardNumber(this.#redis, part.device)
  }
}
