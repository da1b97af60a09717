import { type CopySurvey, surveyCopies } from './copies.ts'
import { readParked } from './parked-copies.ts'
import type { Shard, Store } from './shards.ts'
import type { RefusalReason } from './survey.ts'

/** What of a copy is where, in all shards. */
export interface CopyAccount {
  readonly copy: string
  readonly waiting: number
  readonly delivered: number
  readonly parked: number
  readonly discarded: number
  /** Fixes that its cursors have passed, minus what became of them: 0. */
  readonly difference: number
  /** Why the last fix was parked. */
  readonly refusal?: RefusalReason & { readonly at: number }
}

export async function copyAccounts(redis: Store, copies: readonly string[]): Promise<CopyAccount[]> {
  if (copies.length === 0) return []
  const ofShards = await redis.inShards(async (shard) => {
    const { logs, counts } = await surveyCopies(shard)
    return Promise.all(copies.map((copy) => accountIn(shard, copy, { logs, counts })))
  })
  return copies.map((copy, index) => ofShards.map((each) => each[index]).reduce(addAccounts, emptyAccount(copy)))
}

async function accountIn(shard: Shard, copy: string, { logs, counts }: CopySurvey): Promise<CopyAccount> {
  const { copyParked } = shard.keyNames
  const [parked, last] = await Promise.all([shard.llen(copyParked(copy)), shard.lindexBuffer(copyParked(copy), -1)])
  const own = logs.flatMap(({ fixes, cursors }) => {
    const cursor = cursors.get(copy)
    return cursor ? [{ waiting: fixes - cursor.fix, taken: cursor.fix - cursor.start }] : []
  })
  const count = (name: string) => counts.get(`${copy} ${name}`) ?? 0
  const [delivered, discarded] = [count('delivered'), count('discarded')]
  const taken = own.reduce((sum, each) => sum + each.taken, count('left'))
  const { at = 0, status = 0, message = '' } = last ? readParked(last) : {}
  return {
    copy,
    waiting: own.reduce((sum, each) => sum + each.waiting, 0),
    delivered,
    parked,
    discarded,
    difference: taken - delivered - parked - discarded,
    refusal: last ? { at, status, message } : undefined,
  }
}

function emptyAccount(copy: string): CopyAccount {
  return { copy, waiting: 0, delivered: 0, parked: 0, discarded: 0, difference: 0 }
}

function addAccounts(sum: CopyAccount, other: CopyAccount): CopyAccount {
  return {
    copy: sum.copy,
    waiting: sum.waiting + other.waiting,
    delivered: sum.delivered + other.delivered,
    parked: sum.parked + other.parked,
    discarded: sum.discarded + other.discarded,
    difference: sum.difference + other.difference,
    refusal: (sum.refusal?.at ?? 0) > (other.refusal?.at ?? 0) ? sum.refusal : (other.refusal ?? sum.refusal),
  }
}
