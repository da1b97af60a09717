import { keys, type Redis } from '../lanes/index.ts'

/** Whether the tracking API takes what is pushed. */
export interface Upstream {
  readonly state: 'up' | 'down' | 'limited'
  /** ms UTC. */
  readonly since: number
}

/** What the workers found last; up since `startedAt` (ms UTC) where none has found anything yet. */
export async function readUpstream(redis: Redis, startedAt: number): Promise<Upstream> {
  const { state, since } = await redis.hgetall(keys.upstream)
  if (state === undefined) return { state: 'up', since: startedAt }
  return { state: state as Upstream['state'], since: Number(since) }
}
