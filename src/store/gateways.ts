import { keys, type Redis } from './index.ts'

/**
 * The sign of life of a gateway, with the reasons why it acknowledges nothing (`problems`, as sentences). A writer of the
 * roster waits for all gateways with a sign of life, and for no others.
 */
export class GatewaySign {
  readonly #redis: Redis
  readonly #gateway: string
  readonly #problems: () => readonly string[]

  constructor(redis: Redis, gateway: string, problems: () => readonly string[]) {
    this.#redis = redis
    this.#gateway = gateway
    this.#problems = problems
  }

  /** Gives it for five seconds. While Redis' memory is full it takes no new sign, but prolongs the last one. Never rejects. */
  async give(): Promise<void> {
    const sign = keys.gateway(this.#gateway)
    const written = this.#redis.set(sign, JSON.stringify(this.#problems()), 'PX', LIFE_SIGN_MS)
    await Promise.all([written, this.#redis.sadd(keys.gatewayIds, this.#gateway)])
      .catch(() => this.#redis.pexpire(sign, LIFE_SIGN_MS))
      .catch(() => {})
  }

  /** Removes the sign: the process stores nothing more, and needs no roster. Never rejects. */
  async end(): Promise<void> {
    const gateway = this.#gateway
    await Promise.all([
      this.#redis.del(keys.gateway(gateway)),
      this.#redis.srem(keys.gatewayIds, gateway),
      this.#redis.hdel(keys.roster('applied'), gateway),
    ]).catch(() => {})
  }
}

/** Resolves to the reasons why live gateways acknowledge nothing, without repetitions. */
export async function readGatewayProblems(redis: Redis): Promise<string[]> {
  return [...new Set([...(await liveGateways(redis)).values()].flat())]
}

/** Whether every live gateway applies the roster as of a write. */
export async function isRosterApplied(redis: Redis, at: number): Promise<boolean> {
  const live = [...(await liveGateways(redis)).keys()]
  const applied = live.length > 0 ? await redis.hmget(keys.roster('applied'), ...live) : []
  return applied.every((time) => Number(time ?? 0) >= at)
}

/** Resolves to all gateways with a sign of life, each with its problems. Deletes the ids of the others. */
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

/**
 * How long a process may use the roster that it read last. A writer waits this long for gateways that do not confirm the
 * write, so that none uses an older roster once the write is answered. A gateway's sign of life lasts longer than this.
 */
export const ROSTER_HOLDS_MS = 3000

const LIFE_SIGN_MS = 5000
