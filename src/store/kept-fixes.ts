import { sameId } from '../domain/ids.ts'
import { FIX_BYTES, HOUR_MS, unpackFix } from './kept-chunks.ts'
import { memoryLimits, memoryOfShards } from './memory.ts'
import type { Position } from './record.ts'
import type { Shard, Store } from './shards.ts'

/*
 * What was delivered lately, to correct a roster and to compare with what the tracking API has. For each device and hour of the
 * fixes' own time, in the device's shard, a list of chunks (kept.lua says how lanes are named in it).
 */

/** The `keep` section of gateway.yaml. */
export interface KeepSettings {
  /** How long delivered fixes are kept, ms after their own time; 0: not at all. */
  readonly delivered: number
  /** The share of Redis' memory that they may take. */
  readonly max_memory: number
}

/** One delivery of a fix: a fix that was delivered to two lanes has two. */
export interface KeptFix extends Position {
  readonly lane: string
  /** Whether it is queued for this lane again, or withdrawn since; its delivery is a separate entry. */
  readonly isQueued: boolean
}

/** Own times of fixes, [from, until), ms UTC. */
export interface Span {
  readonly from: number
  readonly until: number
}

/** Resolves to the kept fixes of a device within a span, by time, with an entry for each delivery. */
export async function readKept(redis: Store, device: string, { from, until }: Span): Promise<KeptFix[]> {
  const shard = redis.shardOf(device)
  const hours = await keptHoursIn(shard, { from, until })
  const kept = await Promise.all(hours.map((hour) => readKeptHour(shard, device, hour)))
  const isIn = ({ timestamp }: KeptFix) => timestamp * 1000 >= from && timestamp * 1000 < until
  return kept.flatMap(({ fixes }) => fixes.filter(isIn))
}

/** Resolves to the hours, since 1970, in a span for which a shard has kept fixes, in order. */
export async function keptHoursIn(shard: Shard, { from, until }: Span): Promise<number[]> {
  const [first, end] = [Math.floor(from / HOUR_MS), Math.ceil(until / HOUR_MS)]
  const hours = (await shard.hkeys(shard.keyNames.keptHours)).map(Number)
  return hours.filter((hour) => hour >= first && hour < end).toSorted((one, other) => one - other)
}

/** Resolves to the devices, without leading zeros, with kept fixes of an hour. */
export function keptDevicesIn(shard: Shard, hour: number): Promise<string[]> {
  return shard.smembers(shard.keyNames.keptPrefix + hour)
}

/** Resolves to the kept fixes of a device and hour, by time, and the length of their list. @param isWanted selects lanes */
export async function readKeptHour(shard: Shard, device: string, hour: number, isWanted = (_lane: string) => true) {
  const list = await shard.lrangeBuffer(keptList(shard, hour, device), 0, -1)
  const fixes = fixesIn(list, hour, isWanted).toSorted((one, other) => one.timestamp - other.timestamp)
  return { length: list.length, fixes }
}

/** Returns the kept fixes of a device and hour in the order of delivery. */
function fixesIn(list: readonly Buffer[], hour: number, isWanted: (lane: string) => boolean): KeptFix[] {
  const [newest, ...entries] = list
  const fixes: KeptFix[] = []
  let chunks: Buffer[] = []
  const add = (place: Buffer) => {
    const lane = place.toString('utf8', 1)
    const isQueued = place[0] === QUEUED
    for (const chunk of isWanted(lane) ? chunks : [])
      for (let at = 0; at < chunk.length; at += FIX_BYTES) fixes.push({ ...unpackFix(chunk, at, hour), lane, isQueued })
    chunks = []
  }
  for (const entry of entries) {
    if (entry[0] < QUEUED) chunks.push(entry)
    else add(entry)
  }
  if (chunks.length > 0) add(newest)
  return fixes
}

/**
 * Resolves to how far back kept fixes reach in a device's shard, ms UTC, for `keep.delivered` of `delivered` ms; undefined:
 * none are kept.
 */
export async function keptSince(redis: Store, device: string, delivered: number): Promise<number | undefined> {
  const shard = redis.shardOf(device)
  const since = await shard.hget(shard.keyNames.keptHours, 'since')
  return since === null || delivered === 0 ? undefined : Math.max(Number(since), Date.now() - delivered)
}

/** Figures of the kept fixes of all devices. */
export interface KeptFigures {
  readonly fixes: number
  /** Fixes that were deleted before their time for want of memory. */
  readonly trimmed: number
  /** How far back they reach, ms UTC, in the shard where they reach least far. */
  readonly since?: number
}

export async function keptFigures(redis: Store): Promise<KeptFigures> {
  const figures = await redis.inShards(async (shard) => {
    const { since, trimmed = 0, ...hours } = await shard.hgetall(shard.keyNames.keptHours)
    const fixes = Object.values(hours).reduce((sum, count) => sum + Number(count), 0)
    return { fixes, trimmed: Number(trimmed), since: since === undefined ? undefined : Number(since) }
  })
  const sinces = figures.flatMap(({ since }) => since ?? [])
  return {
    fixes: figures.reduce((sum, { fixes }) => sum + fixes, 0),
    trimmed: figures.reduce((sum, { trimmed }) => sum + trimmed, 0),
    since: sinces.length > 0 ? Math.max(...sinces) : undefined,
  }
}

/** Deletes kept fixes that are older than `keep` allows, by their own time, and beyond its memory: the oldest hours first. */
export async function trimKept(redis: Store, { delivered, max_memory }: KeepSettings): Promise<void> {
  const mostBytes = await bytesOfShards(redis, max_memory)
  await redis.inShards(async (shard) => {
    const { keptHours, keptPrefix } = shard.keyNames
    const args = [delivered, mostBytes[shard.number], BYTES_OF_FIX, BYTES_OF_LIST, LISTS_AT_ONCE]
    while (((await shard.run('trim_kept', [keptPrefix, keptHours], args)) as number) > 0);
  })
}

/** Returns the memory of each shard: the shards of a server share its part. */
async function bytesOfShards(redis: Store, share: number): Promise<number[]> {
  const servers = await memoryOfShards(redis)
  return servers.map(([server, info]) => {
    const sharing = servers.filter(([other]) => other === server).length
    return Math.floor((memoryLimits([info]) * share) / sharing)
  })
}

/** Deletes the kept fixes of a device. @returns how many there were */
export async function forgetKept(shard: Shard, device: string): Promise<number> {
  let fixes = 0
  for (const hour of await keptHoursIn(shard, ALWAYS)) {
    const kept = await readKeptHour(shard, device, hour)
    if (kept.length === 0) continue
    fixes += kept.fixes.length
    await shard.unlink(keptList(shard, hour, device))
    await shard.srem(shard.keyNames.keptPrefix + hour, sameId(device))
    await shard.hincrby(shard.keyNames.keptHours, String(hour), -kept.fixes.length)
  }
  return fixes
}

function keptList(shard: Shard, hour: number, device: string): string {
  return `${shard.keyNames.keptPrefix}${hour}:${sameId(device)}`
}

const ALWAYS: Span = { from: 0, until: Infinity }
const QUEUED = 0xfe
/** Approximate memory in Redis of a kept fix, and of a list with its place among the devices of its hour. */
const BYTES_OF_FIX = 17
const BYTES_OF_LIST = 330
const LISTS_AT_ONCE = 200
