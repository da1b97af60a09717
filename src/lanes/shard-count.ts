import { setTimeout as pause } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { refuseData } from './format.ts'
import { keys } from './keys.ts'
import { inShards, keysOf, shardsOf } from './shards.ts'

/**
 * Sees to it that all processes have the same number of shards as the data: a lane would be looked for where it is not. Notes the number
 * in empty data, and a larger one where nothing is left in any shard; ends the process otherwise. To be called once the connection of
 * the home shard is ready.
 */
export async function settleShardCount(home: Redis): Promise<void> {
  while (home.status === 'ready') {
    try {
      return await settle(home)
    } catch {
      // The other shards are not connected yet.
      await pause(AGAIN_MS, undefined, { ref: false })
    }
  }
}

async function settle(home: Redis): Promise<void> {
  const count = shardsOf(home).length
  const noted = Number((await home.get(keys.shards)) ?? 0)
  const before = noted || ((await home.exists(keys.custody)) === 1 ? 1 : 0)
  if (before === 0 && count > 1) {
    await home.setnx(keys.shards, count)
    return settle(home)
  }
  if (count === (before || 1)) return undefined
  if (count < before)
    return refuseData(`${DIFFERS(before, count)} They cannot become fewer: set redis.shards: ${before}.`)
  if (await isDrained(home)) return void (await home.set(keys.shards, count))
  refuseData(
    `${DIFFERS(before, count)} To have ${count}, start with redis.shards: ${before}, wait until the status shows that nothing ` +
      `waits, is held or parked, stop every process, then start with redis.shards: ${count}.`,
  )
}

const DIFFERS = (before: number, count: number) =>
  `The data in Redis are in ${before} ${before === 1 ? 'shard' : 'shards'}, and redis.shards is ${count}.`

/** Whether nothing waits, is held, refused or on its way in any shard. Parked lanes wait, too. */
async function isDrained(home: Redis): Promise<boolean> {
  const left = await inShards(home, (shard) => {
    const { departing, heldFixes, refusedLanes, schedule } = keysOf(shard)
    return Promise.all([shard.zcard(schedule), shard.zcard(refusedLanes), shard.llen(departing), shard.get(heldFixes)])
  })
  return left.flat().every((number) => Number(number ?? 0) === 0)
}

const AGAIN_MS = 200
