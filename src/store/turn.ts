import type { Redis } from '../redis/connection.ts'

/** Takes the turn of a key, or keeps it for `ms` from now on. Resolves to whether `holder` has it: only one does at a time. */
export async function holdsTurn(
  redis: Redis,
  key: string,
  { holder, ms }: { readonly holder: string; readonly ms: number },
): Promise<boolean> {
  if (await redis.set(key, holder, 'PX', ms, 'NX')) return true
  const isOwn = (await redis.get(key)) === holder
  // A turn that was taken while Redis' clock was ahead would outlive its holder.
  if (isOwn || (await redis.pttl(key)) > ms) await redis.pexpire(key, ms)
  return isOwn
}
