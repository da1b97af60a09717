import { setTimeout as sleep } from 'node:timers/promises'
import type { Loaded } from '../config/load.ts'
import { isRosterApplied } from '../ingest/heard/read.ts'
import type { Redis } from '../lanes/index.ts'
import type { Roster } from '../roster/index.ts'

export interface RosterSources {
  readonly roster: Roster
  /** What is in effect in this process. */
  readonly loaded: () => Loaded
  /** Resolves once a write to the roster is in effect in this process. */
  readonly upTo: (at: number) => Promise<void>
}

/** Changes to the roster, one at a time: each sees all that was written before it. */
export interface RosterWrites {
  /** What `change` answers; it is told what is in effect, and answers with the time of its write, if there was one. */
  <Result extends { readonly at?: number }>(change: (loaded: Loaded) => Promise<Result>): Promise<Result>
}

/**
 * @returns a function that runs changes in turn; each is in effect when it resolves, in this process, and at every gateway
 * that takes no longer than a second
 */
export function rosterWrites({ redis, roster, loaded, upTo }: RosterSources & { redis: Redis }): RosterWrites {
  let last: Promise<unknown> = Promise.resolve()
  return (change) => {
    const turn = last.then(async () => {
      await upTo((await roster.refresh()).at)
      const result = await change(loaded())
      if (result.at !== undefined) {
        await roster.refresh()
        await upTo(result.at)
        await appliedEverywhere(redis, result.at)
      }
      return result
    })
    last = turn.catch(() => {})
    return turn
  }
}

async function appliedEverywhere(redis: Redis, at: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!(await isRosterApplied(redis, at)) && performance.now() < deadline) await sleep(LOOK_MS)
}

const PATIENCE_MS = 1000
const LOOK_MS = 20
