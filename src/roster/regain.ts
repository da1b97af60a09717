import type { Redis } from '../lanes/index.ts'
import { type Reading, readEdits } from './read.ts'
import { writeSlices } from './write.ts'

/**
 * Writes down again what Redis has lost of marks of files, `now` being older than `before`: files still say that, and nobody
 * notes it a second time, so that puts of before it would be back over it. Where another process writes meanwhile, what is
 * still missing then. @returns the roster with it
 */
export async function regainMarks(redis: Redis, before: Reading, now: Reading): Promise<Reading> {
  const { at } = now.edits
  let known = now
  let set = at === 0 ? [] : lostMarks(before, known, at)
  while (set.length > 0) {
    const isAll = await writeSlices(redis, { set, asOf: known.edits.at })
    known = await readEdits(redis, known.edits)
    set = isAll ? [] : lostMarks(before, known, at)
  }
  return known
}

/** Fields and texts for a write. A mark that is older in Redis is to have another time: it has been gone in between. */
function lostMarks(before: Reading, now: Reading, since: number): (readonly [key: string, text: string])[] {
  return Array.from(before.edits.files).flatMap(([key, at]) => {
    const isLost = at > since && (now.edits.files.get(key) ?? 0) <= since
    const isGone = (before.gone.get(key) ?? 0) > since && (isLost || !now.gone.has(key))
    return [...(isLost ? ['gone', ''] : []), ...(isGone ? ['gone'] : [])].map((text) => [key, text] as const)
  })
}
