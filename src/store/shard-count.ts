import { setTimeout as pause } from 'node:timers/promises'
import { keys } from './keys.ts'
import type { Store } from './shards.ts'

/**
 * Refuses the store if its data have another number of shards: this process would look for devices in the wrong shards. Call
 * it once the connection of the home shard is ready.
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
 * Resolves to why the stored data cannot be opened with this number of shards, or undefined. Notes the number in empty data,
 * and a larger number if no shard has data that would then be in another shard.
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
 * Resolves to whether nothing waits, is held or refused in any shard, parked lanes included. Then the shards have only data
 * of devices that may move which are either looked for in all shards (days, kept frames), or expire (duplicate marks).
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
