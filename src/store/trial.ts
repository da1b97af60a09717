import { keys } from './keys.ts'
import type { Store } from './shards.ts'
import { fieldsOf } from './slices.ts'

/**
 * The figures of a device on a trial. `answers_…`: the old server's, compared with ours; `not_understood`: frames of which
 * nothing, or not all positions, could be read.
 */
export const TRIAL_COUNTS = ['frames', 'not_understood', 'positions', 'answers_equal', 'answers_different'] as const
export type TrialCounts = Record<(typeof TRIAL_COUNTS)[number], number>

/** Frames that came through a trial: all of them, those that are stored or noted, and the others. */
export const TRIAL_ACCOUNT = ['seen', 'stored', 'missed'] as const
export type TrialAccount = Record<(typeof TRIAL_ACCOUNT)[number], number>

/** A different answer, bytes as hex. `at`: ms UTC. */
export interface TrialDifference {
  readonly at: number
  readonly frame: string
  readonly ours: string
  readonly old: string
}

/** Figures of a device on a trial, or additions to them. `difference`: the first one. */
export interface TriedDevice {
  readonly device: string
  readonly protocol: string
  readonly counts: Readonly<TrialCounts>
  readonly difference?: TrialDifference
}

/**
 * Adds figures of a gateway, all or nothing; they are kept for a week after the last addition. Rejects if Redis does not
 * accept them.
 */
export async function addTrial(
  redis: Store,
  account: Readonly<TrialAccount>,
  news: readonly TriedDevice[],
): Promise<void> {
  const writes = redis.multi()
  for (const name of TRIAL_ACCOUNT) if (account[name] > 0) writes.hincrby(keys.trial, name, account[name])
  for (const { counts, device, difference, protocol } of news) {
    for (const name of TRIAL_COUNTS)
      if (counts[name] > 0) writes.hincrby(keys.triedDevices, `${name} ${device}`, counts[name])
    writes.hset(keys.triedDevices, `protocol ${device}`, protocol)
    if (difference) writes.hsetnx(keys.triedDevices, `difference ${device}`, JSON.stringify(difference))
  }
  for (const key of [keys.trial, keys.triedDevices]) writes.expire(key, KEPT_S)
  await writes.exec()
}

/** The account of all trials since the data began. */
export async function readTrialAccount(redis: Store): Promise<TrialAccount> {
  const counts = await redis.hmget(keys.trial, ...TRIAL_ACCOUNT)
  return Object.fromEntries(TRIAL_ACCOUNT.map((name, index) => [name, Number(counts[index] ?? 0)])) as TrialAccount
}

/** Yields the devices that came through a trial, in no order, read in slices between which Redis does other work. */
export async function readTriedDevices(redis: Store): Promise<TriedDevice[]> {
  const fields = await fieldsOf(redis, keys.triedDevices)
  return Array.from(fields)
    .filter(([field]) => field.startsWith('protocol '))
    .map(([field, protocol]) => {
      const device = field.slice('protocol '.length)
      const counts = TRIAL_COUNTS.map((name) => [name, Number(fields.get(`${name} ${device}`) ?? 0)])
      const difference = fields.get(`difference ${device}`)
      return {
        device,
        protocol,
        counts: Object.fromEntries(counts) as TrialCounts,
        difference: difference === undefined ? undefined : (JSON.parse(difference) as TrialDifference),
      }
    })
}

/** How many devices are noted, at most. */
export async function countTriedDevices(redis: Store): Promise<number> {
  return redis.hlen(keys.triedDevices).then((fields) => Math.floor(fields / 2))
}

/** Forgets a device. Returns how many fields there were. */
export async function forgetTried(redis: Store, device: string): Promise<number> {
  const names = [...TRIAL_COUNTS, 'protocol', 'difference']
  return redis.hdel(keys.triedDevices, ...names.map((name) => `${name} ${device}`))
}

const KEPT_S = 7 * 86_400
