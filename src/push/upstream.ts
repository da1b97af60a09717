import { keys, type Redis } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'

/** Says in the log when the tracking API goes down, limits us, or is up again: the scripts keep its state in Redis. */
export function reportUpstream(redis: Redis, logger: Logger): { stop(): void } {
  let known = 'up'

  async function look(): Promise<void> {
    const state = (await redis.hget(keys.upstream, 'state')) ?? 'up'
    if (state === known) return
    known = state
    if (state === 'up') logger.info('the tracking API answers again: what waits is delivered')
    else logger.warn({ reason: state }, WORDS.get(state) ?? 'the tracking API does not take positions')
  }

  const timer = setInterval(() => void look().catch(() => {}), 1000)
  return { stop: () => clearInterval(timer) }
}

const WORDS = new Map([
  ['down', 'the tracking API is down: fixes wait, one request at a time tries whether it is back'],
  ['limited', 'the tracking API limits us (429): fixes wait, one request at a time tries whether it takes more'],
])
