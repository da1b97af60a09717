import { type Redis, rosterWrittenAt } from '../lanes/index.ts'
import type { Edits } from './edits.ts'
import type { Faults } from './faults.ts'
import { type Reading, readEdits } from './read.ts'
import { regainMarks } from './regain.ts'

/** Reads the roster, once at a time. */
export interface Reader {
  /** As it was read last; undefined until it was for the first time. */
  readonly last: Reading | undefined
  /** Reads it now. Rejects where Redis does not answer. */
  refresh(): Promise<Edits>
}

/** Reads the roster where it has been written since; `changed` is called whenever `last` is another object than before. */
export function createReader(redis: Redis, faults: Faults, changed: () => void): Reader {
  let last: Reading | undefined
  let reading: Promise<Edits> | undefined

  async function read(): Promise<Edits> {
    if (last && (await rosterWrittenAt(redis)) === last.edits.at) return last.edits
    last = await readSince(last)
    changed()
    return last.edits
  }

  async function readSince(before: Reading | undefined): Promise<Reading> {
    const now = await readEdits(redis, before?.edits)
    if (!before || now.edits.at >= before.edits.at) return now
    faults.older(now.edits.at, before.edits.at)
    return regainMarks(redis, before, now)
  }

  return {
    get last() {
      return last
    },
    /** Who asks while it is being read gets the result of the next reading: that one sees all that was before the question. */
    async refresh() {
      if (reading) await reading.catch(() => {})
      reading ??= read().finally(() => (reading = undefined))
      return reading
    },
  }
}
