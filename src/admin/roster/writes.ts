import { setTimeout as sleep } from 'node:timers/promises'
import { inTurns } from '../../async.ts'
import { isRosterApplied } from '../../ingest/gateways.ts'
import type { Redis } from '../../lanes/index.ts'
import { forgettableDeletions } from '../../roster/deletions.ts'
import { ROSTER_HOLDS_MS, type Roster } from '../../roster/index.ts'
import type { Loaded } from '../../roster/load.ts'
import { ApiRefusal } from '../../tracking/refusal.ts'

export interface RosterSources {
  readonly roster: Roster
  /** What is in effect in this process. */
  readonly loaded: () => Loaded
  /** Resolves once all that has been written to the roster is in effect in this process. */
  readonly catchUp: () => Promise<void>
}

/** Changes to the roster, one at a time: each sees all that was written before it. */
export interface RosterWrites {
  /**
   * What `change` answers; it is told what is in effect, and answers with the time of its write, if there was one, or null
   * where it did not write since another process had: it is asked again then.
   * @throws ApiRefusal 504 where others write all the time
   */
  <Result extends { readonly at?: number | null }>(change: (loaded: Loaded) => Promise<Result>): Promise<Result>
}

/**
 * @returns a function that runs changes in turn; each is in effect when it resolves, in this process, and at every gateway
 * that takes no longer than it may go by what it knew before
 */
export function rosterWrites({ redis, roster, loaded, catchUp }: RosterSources & { redis: Redis }): RosterWrites {
  const inTurn = inTurns()

  async function settle(): Promise<void> {
    await catchUp()
    const forgettable = forgettableDeletions(loaded())
    if (forgettable.length > 0) await roster.dropDeletions(forgettable, loaded().edits.at)
  }

  return async (change) => {
    const result = await inTurn(async () => {
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        await catchUp()
        const changed = await change(loaded())
        if (typeof changed.at === 'number') await settle()
        if (changed.at !== null) return changed
      }
      throw new ApiRefusal(504, 'other processes change the roster all the time: nothing is changed; try again')
    })
    if (typeof result.at === 'number') await appliedEverywhere(redis, result.at)
    return result
  }
}

async function appliedEverywhere(redis: Redis, at: number): Promise<void> {
  const deadline = performance.now() + ROSTER_HOLDS_MS
  while (!(await isRosterApplied(redis, at)) && performance.now() < deadline) await sleep(LOOK_MS)
}

const LOOK_MS = 20
const MOST_TRIES = 10
