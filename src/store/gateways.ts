import { everySecond } from '../async.ts'
import { keys, type Redis } from './index.ts'

/**
 * Says once a second that this gateway lives, and in `problems`, as sentences, why it acknowledges nothing. It does not
 * wait for other writes: a writer of the roster waits for all gateways that give a sign of life, and for no others.
 */
export function giveLifeSign(redis: Redis, gateway: string, problems: () => readonly string[]) {
  const sign = keys.gateway(gateway)

  /** While Redis' memory is full it takes no new sign, but prolongs the last one. */
  async function beat(): Promise<void> {
    const written = redis.set(sign, JSON.stringify(problems()), 'PX', LIFE_SIGN_MS)
    await Promise.all([written, redis.sadd(keys.gatewayIds, gateway)])
      .catch(() => redis.pexpire(sign, LIFE_SIGN_MS))
      .catch(() => {})
  }

  const beats = everySecond({ beat })
  return {
    /** Removes it: the process stores nothing more, and needs no roster. Never rejects. */
    async end(): Promise<void> {
      await beats.stop()
      const marks = [redis.del(sign), redis.srem(keys.gatewayIds, gateway), redis.hdel(keys.roster('applied'), gateway)]
      await Promise.all(marks).catch(() => {})
    },
  }
}

/** Why live gateways acknowledge nothing: each sentence once. */
export async function readGatewayProblems(redis: Redis): Promise<string[]> {
  return [...new Set([...(await liveGateways(redis)).values()].flat())]
}

/** Whether every live gateway applies the roster as of a write. */
export async function isRosterApplied(redis: Redis, at: number): Promise<boolean> {
  const live = [...(await liveGateways(redis)).keys()]
  const applied = live.length > 0 ? await redis.hmget(keys.roster('applied'), ...live) : []
  return applied.every((time) => Number(time ?? 0) >= at)
}

/** All gateways that give a sign of life, each with its problems. Deletes the ids of the others. */
export async function liveGateways(redis: Redis): Promise<Map<string, string[]>> {
  const ids = await redis.smembers(keys.gatewayIds)
  const signs = ids.length > 0 ? await redis.mget(ids.map(keys.gateway)) : []
  const live = new Map<string, string[]>()
  for (const [index, sign] of signs.entries()) if (sign !== null) live.set(ids[index], JSON.parse(sign) as string[])
  const gone = ids.filter((id) => !live.has(id))
  if (gone.length > 0)
    await Promise.all([redis.srem(keys.gatewayIds, ...gone), redis.hdel(keys.roster('applied'), ...gone)])
  return live
}

const LIFE_SIGN_MS = 5000
