import { say, type Text } from '../texts/text.ts'
import type { Store } from './shards.ts'

/**
 * Resolves to the answers to `INFO memory` of all shards' servers, the home shard's first; a server with several shards
 * counts once.
 */
export async function memoryInfos(redis: Store): Promise<[string, ...string[]]> {
  const [home, ...others] = new Map(await memoryOfShards(redis)).values()
  return [home, ...others]
}

/** Resolves to the id of the server of each shard, and to its answer to `INFO memory`. */
export function memoryOfShards(redis: Store): Promise<(readonly [server: string, info: string])[]> {
  return redis.inShards(async (shard) => {
    const [server, memory] = await Promise.all([shard.info('server'), shard.info('memory')])
    return [/^run_id:(\w+)/m.exec(server)?.[1] ?? '', memory] as const
  })
}

/** Returns why nothing can be acknowledged, by this answer to `INFO memory`, as sentences. */
export function memoryProblems(info: string, stopAt: number): string[] {
  return memoryShare(info) > stopAt ? [fullAt(stopAt)] : []
}

/**
 * The share of memory that Redis uses, from its answer to `INFO memory`: of `maxmemory`, as Redis counts it; without a
 * limit, of the memory of its machine.
 */
export function memoryShare(info: string): number {
  const used = figureOf(info, 'used_memory') - figureOf(info, 'mem_not_counted_for_evict')
  const limit = memoryLimit(info)
  return limit > 0 ? used / limit : 0
}

/**
 * Returns, for each server without `maxmemory`, what counts as its memory. A container may have less: its limit is not in the
 * answer.
 */
export function unlimitedMemory(infos: readonly string[]): Text[] {
  const unlimited = infos.filter((info) => /^maxmemory:0\s*$/m.test(info))
  return unlimited.map((info) => {
    const gib = Math.round((figureOf(info, 'total_system_memory') / 2 ** 30) * 10) / 10
    return say('redis.stop_at counts as a share of the {} GiB of its machine', gib)
  })
}

/**
 * Returns the approximate share of Redis' memory of each use, by these answers to `INFO memory`. `used`: bytes of duplicate
 * marks and of frames that were not understood; numbers of fixes for the others.
 */
export function memoryUses(infos: readonly string[], used: Readonly<Record<MemoryUse, number>>) {
  const limit = memoryLimits(infos) || Infinity
  const ofFixes = (fixes: number) => (fixes * FIX_BYTES) / limit
  return {
    marks: used.marks / limit,
    misunderstood: used.misunderstood / limit,
    held: ofFixes(used.held),
    parked: ofFixes(used.parked),
    waiting: (used.waiting * WAITING_BYTES) / limit,
  }
}

type MemoryUse = 'marks' | 'misunderstood' | 'held' | 'parked' | 'waiting'

/** The sum of the memory limits of all servers. */
export function memoryLimits(infos: readonly string[]): number {
  return infos.reduce((sum, info) => sum + memoryLimit(info), 0)
}

function memoryLimit(info: string): number {
  return figureOf(info, 'maxmemory') || figureOf(info, 'total_system_memory')
}

function figureOf(info: string, name: string): number {
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
}

export function fullAt(stopAt: number): string {
  return `Redis has more than ${Math.round(stopAt * 100)} % of its memory in use: nothing is acknowledged`
}

/** Memory of a held or parked fix, at most, and of a waiting one. */
export const FIX_BYTES = 100

const WAITING_BYTES = 40
