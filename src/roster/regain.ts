import { type Redis, writeRosterAsOf } from '../lanes/index.ts'
import { readEdits, type Reading } from './read.ts'

/**
 * Writes down again what Redis has lost of marks of files, `now` being older than `before`: files still say that, and nobody
 * notes it a second time, so that puts of before it would be back over it. One process after another does, each what is still
 * not there. @returns the roster with it
 */
export async function regainMarks(redis: Redis, before: Reading, now: Reading): Promise<Reading> {
  if (now.edits.at === 0) return now
  let known = now
  for (;;) {
    const { at } = known.edits
    const set = lostMarks(before, known, now.edits.at)
    const isDone = set.length === 0 || (await writeRosterAsOf(redis, 'files', { set, asOf: at })) !== null
    if (set.length > 0) known = await readEdits(redis, known.edits)
    if (isDone) return known
  }
}

/** Fields and texts for a write. A mark that is older in Redis is to have another time: it has been gone in between. */
function lostMarks(before: Reading, now: Reading, since: number): (readonly [key: string, text: string])[] {
  return Array.from(before.edits.files).flatMap(([key, at]) => {
    const isLost = at > since && (now.edits.files.get(key) ?? 0) <= since
    const isGone = (before.gone.get(key) ?? 0) > since && !now.gone.has(key)
    return [
      ...(isLost
        ? ([
            [key, 'gone'],
            [key, ''],
          ] as const)
        : []),
      ...(isGone ? ([[key, 'gone']] as const) : []),
    ]
  })
}
