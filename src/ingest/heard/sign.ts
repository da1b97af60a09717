import { everySecond } from '../../async.ts'
import { keys, type Redis } from '../../lanes/index.ts'

/** The sign of life of a gateway process. */
export interface Sign {
  /** Takes it back: the process takes nothing more, and goes by no roster. Never rejects. */
  end(): Promise<void>
}

/**
 * Says once a second that this gateway lives, and why it acknowledges nothing, if so: `problems`, a sentence each. Nothing else
 * that is written may hold it up: who writes the roster waits for those alone that give a sign.
 */
export function giveSign(redis: Redis, gateway: string, problems: () => readonly string[]): Sign {
  const sign = keys.gateway(gateway)

  /** Where Redis' memory is full it takes no new sign, but lets the last one live on. */
  async function beat(): Promise<void> {
    const said = redis.set(sign, JSON.stringify(problems()), 'PX', LIFE_SIGN_MS)
    await Promise.all([said, redis.sadd(keys.gatewayIds, gateway)])
      .catch(() => redis.pexpire(sign, LIFE_SIGN_MS))
      .catch(() => {})
  }

  const beats = everySecond(beat)
  return {
    async end() {
      await beats.stop()
      const marks = [redis.del(sign), redis.srem(keys.gatewayIds, gateway), redis.hdel(keys.roster('applied'), gateway)]
      await Promise.all(marks).catch(() => {})
    },
  }
}

const LIFE_SIGN_MS = 5000
