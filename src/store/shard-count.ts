import { setTimeout as pause } from 'node:timers/promises'
import { keys } from './keys.ts'
import type { Store } from './shards.ts'

/**
 * Refuses the store if it has another number of shards than the data: this process would look for devices where they are not. To be
 * called once the connection of the home shard is ready.
 */
export async function settleShardCount(home: Store): Promise<void> {
  while (home.status === 'ready') {
    try {
      const problem = await shardProblem(home)
      if (problem !== undefined) home.refuse(problem)
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
export async function shardProblem(home: Store): Promise<string | undefined> {
  const count = home.shards.length
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
 * on, but its marks of duplicates, which expire, and its days and kept frames, which are looked for in all shards. What is parked whole
 * waits as well.
 */
async function takeIfDrained(home: Store): Promise<boolean> {
  const left = await home.inShards((shard) => {
    const { heldFixes, refusedLanes, schedule } = shard.keyNames
    return Promise.all([shard.zcard(schedule), shard.zcard(refusedLanes), shard.get(heldFixes)])
  })
  if (left.flat().some((number) => Number(number ?? 0) !== 0)) return false
  await home.inShards((shard) => shard.del(shard.keyNames.releasing))
  return true
}

const AGAIN_MS = 200
