import { keys } from './keys.ts'
import type { Store } from './shards.ts'

/** Numbers of delivered fixes that were compared with the tracking API, and of those missing there. */
export interface VerifiedCount {
  readonly checked: number
  readonly missing: number
}

/** Fixes of a lane and window that the tracking API accepted but does not have. Instants in ms UTC. */
export interface MissingFixes extends VerifiedCount {
  readonly lane: string
  /** When the window begins. */
  readonly window: number
  /** The own times of the first and the last fix that is missing. */
  readonly firstAt: number
  readonly lastAt: number
  /** When that was found. */
  readonly at: number
  /** How many of them were queued again. */
  readonly repaired: number
}

/** Result for a lane and window. `missing`: undefined if nothing is missing. */
export interface Verified {
  readonly lane: string
  /** When the window begins, ms UTC. */
  readonly window: number
  /** When its local day begins, ms UTC. */
  readonly day: number
  readonly checked: number
  readonly missing?: Omit<MissingFixes, 'checked' | 'lane' | 'window'>
}

/** An hour, and a quarter of an hour, is a whole number of windows, so local days of all zones begin with one. */
export const WINDOW_MS = 100_000

/**
 * Notes a result, replacing the earlier one of the window. @param keptMs how long delivered fixes are kept; later the window
 * is not verified again
 */
export async function noteVerified(redis: Store, found: Verified, keptMs: number): Promise<void> {
  const { lane, window, day, checked, missing } = found
  const hour = Math.floor(window / HOUR_MS)
  const place = (window - hour * HOUR_MS) / WINDOW_MS
  const value = missing ? JSON.stringify({ ...missing, checked }) : ''
  const seconds = [Math.ceil((keptMs + HOUR_MS) / 1000), KEPT_S]
  await redis.run(
    'verified',
    [keys.verifiedHour(hour), keys.verifiedDay(day), keys.missingAtApi],
    [lane, place, checked, missing?.missing ?? 0, ...seconds, fieldOf(lane, window), value],
  )
}

/** Resolves to the results of the lanes for a local day that begins at `day` (ms UTC); they are kept for 32 days. */
export async function verifiedOf(redis: Store, day: number): Promise<Map<string, VerifiedCount>> {
  const found = await redis.hgetall(keys.verifiedDay(day))
  return new Map(
    Object.entries(found).map(([lane, sums]) => {
      const [checked, missing] = sums.split(' ').map(Number)
      return [lane, { checked, missing }]
    }),
  )
}

/** How many fixes were compared of each lane and window of an hour since 1970. */
export async function verifiedInHour(redis: Store, hour: number): Promise<(lane: string, window: number) => number> {
  const found = await redis.hgetallBuffer(keys.verifiedHour(hour))
  return (lane, window) => {
    const at = ((window - hour * HOUR_MS) / WINDOW_MS) * 4
    const packed = found[lane] as Buffer | undefined
    return packed && packed.length >= at + 4 ? packed.readUInt16BE(at) : 0
  }
}

/** Resolves to since when a company is read back from this API, ms UTC; 0: from the first time on. Notes an API that is new. */
export async function readBackSince(redis: Store, company: string, url: string, now: number): Promise<number> {
  const [since, ...known] = (await redis.hget(keys.verifiedApis, company))?.split(' ') ?? []
  if (known.join(' ') === url) return Number(since)
  const at = since === undefined ? 0 : now
  await redis.hset(keys.verifiedApis, company, `${at} ${url}`)
  return at
}

/** All that is missing and was found within 24 hours. What was found before is deleted. */
export async function missingAtApi(redis: Store, now: number): Promise<MissingFixes[]> {
  const found = Object.entries(await redis.hgetall(keys.missingAtApi)).map(([field, json]) => {
    const [lane, window] = field.split(' ')
    return { ...(JSON.parse(json) as Omit<MissingFixes, 'lane' | 'window'>), lane, window: Number(window) }
  })
  const old = found.filter(({ at }) => now - at >= SHOWN_MS)
  if (old.length > 0) await redis.hdel(keys.missingAtApi, ...old.map(({ lane, window }) => fieldOf(lane, window)))
  return found.filter(({ at }) => now - at < SHOWN_MS)
}

/** Says no more that fixes of a lane and window are missing. */
export async function forgetMissing(
  redis: Store,
  { lane, window }: Pick<MissingFixes, 'lane' | 'window'>,
): Promise<void> {
  await redis.hdel(keys.missingAtApi, fieldOf(lane, window))
}

function fieldOf(lane: string, window: number): string {
  return `${lane} ${window}`
}

const HOUR_MS = 3_600_000
const SHOWN_MS = 86_400_000
const KEPT_S = 32 * 86_400
