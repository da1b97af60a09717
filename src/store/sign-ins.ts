import type { Redis } from '../redis/connection.ts'
import { keys } from './keys.ts'

/** A person who is signed in to the page, as stored in Redis. */
export interface StoredSignIn {
  readonly name: string
  /** The id of the person at the provider. */
  readonly subject: string
  readonly groups: readonly string[]
  /** The provider, and our client id there. */
  readonly by: string
  /** When the provider must be asked again, ms UTC. */
  readonly until: number
  /** What the provider returned, encrypted so that only the cookie opens it. */
  readonly sealed: string
}

interface AddedSignIn {
  readonly signIn: StoredSignIn
  readonly most: number
  readonly mostOfPerson: number
  readonly maxMs: number
}

/**
 * Adds a sign-in that ends after `maxMs`. Beyond `most`, the oldest end; beyond `mostOfPerson`, the oldest of the same
 * person.
 */
export async function addSignIn(redis: Redis, hash: string, added: AddedSignIn): Promise<void> {
  const { signIn, most, mostOfPerson, maxMs } = added
  await redis.set(keys.signIn(hash), JSON.stringify(signIn), 'PX', maxMs)
  await redis.zadd(keys.signIns, Date.now(), hash)
  const hashes = await redis.zrange(keys.signIns, '0', '-1')
  const texts = await redis.mget(hashes.map((each) => keys.signIn(each)))
  const all = hashes.map((each, index) => ({ hash: each, text: texts[index] }))
  const running = all.filter(({ text }) => text !== null)
  const own = running.filter(({ text }) => (JSON.parse(text ?? '') as StoredSignIn).subject === signIn.subject)
  const ending = [all.filter(({ text }) => text === null), running.slice(0, -most), own.slice(0, -mostOfPerson)].flat()
  for (const each of ending) await removeSignIn(redis, each.hash)
}

/** Resolves to undefined if it has ended. */
export async function readSignIn(redis: Redis, hash: string): Promise<StoredSignIn | undefined> {
  const text = await redis.get(keys.signIn(hash))
  return text === null ? undefined : (JSON.parse(text) as StoredSignIn)
}

/** Replaces a sign-in without prolonging it; one that has ended in between stays ended. */
export async function replaceSignIn(redis: Redis, hash: string, signIn: StoredSignIn): Promise<void> {
  await redis.set(keys.signIn(hash), JSON.stringify(signIn), 'KEEPTTL', 'XX')
}

export async function removeSignIn(redis: Redis, hash: string): Promise<void> {
  await redis.del(keys.signIn(hash))
  await redis.zrem(keys.signIns, hash)
}

/**
 * Resolves to whether this process may renew the sign-in: only one may, because a provider may accept a refresh token only
 * once.
 */
export async function beginRenewal(redis: Redis, hash: string, forMs: number): Promise<boolean> {
  return (await redis.set(keys.signInRenewal(hash), '', 'PX', forMs, 'NX')) !== null
}

/** Whether a process renews it. */
export async function isRenewing(redis: Redis, hash: string): Promise<boolean> {
  return (await redis.exists(keys.signInRenewal(hash))) === 1
}

export async function endRenewal(redis: Redis, hash: string): Promise<void> {
  await redis.del(keys.signInRenewal(hash))
}
