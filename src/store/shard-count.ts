import { setTimeout as pause } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { refuseData } from './format.ts'
import { keys } from './keys.ts'
import { inShards, keysOf, shardsOf } from './shards.ts'

/**
 * Ends the process where it has another number of shards than the data: it would look for devices where they are not. To be called
 * once the connection of the home shard is ready.
 */
export async function settleShardCount(home: Redis): Promise<void> {
  while (home.status === 'ready') {
    try {
      const problem = await shardProblem(home)
      if (problem !== undefined) refuseData(problem)
      return
    } catch {
      // The other shards are not connected yet.
      await pause(AGAIN_MS, undefined, { ref: false })
    }
  }
}

/**
 * Why the data in Redis cannot have as many shards as this process, if so. Notes the number in data that are empty, and a larger one
 * where no shard has anything left that would be in another one.
 */
export async function shardProblem(home: Redis): Promise<string | undefined> {
  const count = shardsOf(home).length
  const noted = await home.get(keys.shards)
  const before = noted === null ? await home.exists(keys.custody) : Number(noted)
  if (count === (before || 1)) return undefined
  if (before === 0) {
    await home.setnx(keys.shards, count)
    return shardProblem(home)
  }
  if (count < before) return fewer(before, count)
  if (!(await takeIfDrained(home)))
    return (
      `${differing(before, count)} To have ${count}: start with redis.shards: ${before}, wait until the status says that nothing ` +
      `waits, is held or parked, stop every process, then start with redis.shards: ${count}.`
    )
  await home.set(keys.shards, count)
  return undefined
}

function fewer(before: number, count: number): string {
  return `${differing(before, count)} They cannot become fewer: set redis.shards: ${before}.`
}

function differing(before: number, count: number): string {
  return `The data in Redis are in ${before} ${before === 1 ? 'shard' : 'shards'}, and redis.shards is ${count}.`
}

/**
 * Whether nothing waits, is held or refused in any shard: then no shard has anything of a device that may be in another one from now
 * on, but its marks of duplicates, which expire. What is parked whole waits as well.
 */
async function takeIfDrained(home: Redis): Promise<boolean> {
  const left = await inShards(home, (shard) => {
    const { heldFixes, refusedLanes, schedule } = keysOf(shard)
    return Promise.all([shard.zcard(schedule), shard.zcard(refusedLanes), shard.get(heldFixes)])
  })
  if (left.flat().some((number) => Number(number ?? 0) !== 0)) return false
  await inShards(home, (shard) => shard.del(keysOf(shard).releasing))
  return true
}

const AGAIN_MS = 200
