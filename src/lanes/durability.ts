import type { Redis } from './redis.ts'

/**
 * Why what is acknowledged would not be safe in this Redis: a sentence for each setting that is not as it must be, or cannot be
 * read. Rejects where Redis does not answer.
 */
export async function durabilityProblems(redis: Redis): Promise<string[]> {
  const found = await Promise.all(NEEDED.map(([name]) => setting(redis, name)))
  if (found.includes(FORBIDDEN))
    return [
      'Redis does not let its settings be read (CONFIG GET), so it cannot be verified that it keeps what is acknowledged: ' +
        `if it has ${NEEDED.map((needed) => needed.join(' ')).join(', ')}, set redis.durability: relaxed`,
    ]
  return NEEDED.flatMap(([name, value], index) => {
    if (found[index] === value) return []
    return [`Redis has ${name} ${String(found[index])}, needed is ${name} ${value}: what is acknowledged could be lost`]
  })
}

const NEEDED = [
  ['appendonly', 'yes'],
  ['appendfsync', 'always'],
  ['no-appendfsync-on-rewrite', 'no'],
  ['maxmemory-policy', 'noeviction'],
] as const
const FORBIDDEN = Symbol()

/** Managed servers know no CONFIG, or forbid it; any other error will pass. */
async function setting(redis: Redis, name: string): Promise<string | undefined | typeof FORBIDDEN> {
  try {
    const [, value] = await redis.config('GET', name)
    return value
  } catch (error) {
    if (/^(?:ERR|NOPERM)\b/.test((error as Error).message)) return FORBIDDEN
    throw error
  }
}
