import type { Logger } from '../observe/log.ts'
import { observations } from '../observe/observations.ts'
import {
  copiesIn,
  type CopyLog,
  type CopyPlace,
  type CopySurvey,
  discardCopied,
  endCopy,
  enterCopies,
  leaveCopy,
  otherLogOf,
  type Shard,
  type Store,
  surveyCopies,
  trimLog,
} from '../store/index.ts'
import { memoryLimits } from '../store/memory.ts'
import { counted, say } from '../texts/text.ts'
import { type CopySettings, placesOf } from './routes.ts'

export interface KeeperOptions {
  readonly redis: Store
  readonly settings: CopySettings
  /** The share of Redis' memory above which nothing more is acknowledged. */
  readonly stopAt: number
  readonly logger: Logger
}

interface Surveyed extends CopySurvey {
  readonly shard: Shard
}

/**
 * Creates the logs of configured copies, ends those of removed copies, and discards the oldest fixes beyond the bounds of a
 * copy. Every gateway and worker runs it; each step may have been done by another process already.
 */
export class CopyKeeper {
  readonly #options: KeeperOptions
  #idleUntil = 0

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  /** Call it once a second. Rejects if Redis does not answer. */
  async look(): Promise<void> {
    const { redis, settings } = this.#options
    const places = placesOf(settings)
    if (places.length === 0 && performance.now() < this.#idleUntil) return
    await enterCopies(redis, places)
    const surveyed = await redis.inShards(async (shard) => ({ shard, ...(await surveyCopies(shard)) }))
    await Promise.all(surveyed.map((each) => this.#end(each, places)))
    const isIdle = surveyed.every(({ logs, counts }) => logs.length === 0 && counts.size === 0)
    this.#idleUntil = isIdle ? performance.now() + IDLE_MS : 0
    await this.#boundWaiting(surveyed)
    await this.#boundMemory(surveyed)
  }

  /** Ends copies that are not configured here or in another process. */
  async #end({ shard, logs, counts }: Surveyed, places: readonly CopyPlace[]): Promise<void> {
    const { logger } = this.#options
    const wanted = new Set(places.map(({ copy, log }) => `${copy} ${log}`))
    const left = new Set<string>()
    for (const { log, cursors, stored } of logs) {
      let getting = cursors.size
      for (const copy of cursors.keys()) {
        if (wanted.has(`${copy} ${log}`)) continue
        const isReplaced = wanted.has(`${copy} ${otherLogOf(log)}`)
        const fixes = await leaveCopy(shard, { copy, log }, isReplaced)
        if (fixes === undefined) left.add(copy)
        else getting--
        if (fixes)
          logger.warn(
            { copy, log, fixes },
            'copy not configured any more, or not for these positions: what waits for it is discarded',
          )
      }
      const isWanted = places.some((place) => place.log === log)
      if (getting === 0 && !isWanted && stored > 0) await trimLog(shard, log)
    }
    for (const copy of copiesIn(counts, [])) {
      if (places.some((place) => place.copy === copy) || left.has(copy)) continue
      const fixes = await endCopy(shard, copy)
      logger.info({ copy, parked: fixes }, 'copy ended: its figures and what was parked are deleted')
    }
  }

  async #boundWaiting(surveyed: readonly Surveyed[]): Promise<void> {
    for (const { name, max_waiting } of this.#options.settings.copies()) {
      const parts = surveyed.flatMap(({ shard, logs }) =>
        logs.flatMap((log) => {
          const cursor = log.cursors.get(name)
          return cursor ? [{ shard, log, cursor, waiting: log.fixes - cursor.fix }] : []
        }),
      )
      const over = parts.reduce((sum, { waiting }) => sum + waiting, -max_waiting)
      if (over <= 0) continue
      const { shard, log, cursor, waiting } = parts.reduce((a, b) => (a.waiting < b.waiting ? b : a))
      const share = Math.min(1, over / waiting)
      const until = cursor.entry + Math.ceil((log.entries - cursor.entry) * share)
      this.#note(name, await discardCopied(shard, { copy: name, log: log.log }, until))
    }
  }

  /** Copies may use half of the memory below the stop mark that other data leave free. */
  async #boundMemory(surveyed: readonly Surveyed[]): Promise<void> {
    const stored = surveyed.flatMap(({ logs }) => logs).filter((log) => log.stored > 0)
    if (
      stored.reduce(
        (sum, { fixes, cursors }) => sum + fixes - Math.min(fixes, ...Array.from(cursors.values(), ({ fix }) => fix)),
        0,
      ) < FEW
    )
      return
    const measured = await Promise.all(surveyed.map((each) => this.#measure(each)))
    for (const sharing of Map.groupBy(measured, ({ server }) => server).values()) {
      const logs = sharing.flatMap((each) => each.logs)
      const bytes = logs.reduce((sum, each) => sum + each.bytes, 0)
      const [{ limit, used }] = sharing
      const over = bytes - (limit * this.#options.stopAt - (used - bytes)) / 2
      if (over > 0) await this.#discardLargest(logs, over)
    }
  }

  async #discardLargest(logs: readonly MeasuredLog[], over: number): Promise<void> {
    const { shard, log, bytes } = logs.reduce((a, b) => (a.bytes < b.bytes ? b : a))
    const first = log.entries - log.stored
    const until = first + Math.ceil(log.stored * Math.min(1, over / bytes))
    for (const [copy, { entry }] of log.cursors)
      if (entry < until) this.#note(copy, await discardCopied(shard, { copy, log: log.log }, until))
  }

  async #measure({ shard, logs }: Surveyed) {
    const [server, memory] = await Promise.all([shard.info('server'), shard.info('memory')])
    const measured = logs
      .filter((log) => log.stored > 0)
      .map(async (log): Promise<MeasuredLog> => {
        return {
          shard,
          log,
          bytes: (await shard.memory('USAGE', shard.keyNames.copiedPrefix + log.log, 'SAMPLES', 0)) ?? 0,
        }
      })
    return {
      server: /^run_id:(\w+)/m.exec(server)?.[1] ?? '',
      limit: memoryLimits([memory]),
      used: Number(/^used_memory:(\d+)/m.exec(memory)?.[1] ?? 0),
      logs: await Promise.all(measured),
    }
  }

  #note(copy: string, fixes: number): void {
    if (fixes === 0) return
    observations.note('copy_full', {
      subject: { copy },
      evidence: say('{} discarded', counted(fixes, '{} position', '{} positions')),
    })
    this.#options.logger.debug({ copy, fixes }, 'the oldest of what waits for a copy is discarded')
  }
}

interface MeasuredLog {
  readonly shard: Shard
  readonly log: CopyLog
  readonly bytes: number
}

/** Interval of the search for remains of copies while none is configured. */
const IDLE_MS = 10_000
/** While so few fixes wait, their memory is not looked at. */
const FEW = 20_000
