import type { Loaded } from '../config/load.ts'
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

/** @returns a function that runs changes in turn; each is in effect in this process when it resolves */
export function rosterWrites({ roster, loaded, upTo }: RosterSources): RosterWrites {
  let last: Promise<unknown> = Promise.resolve()
  return (change) => {
    const turn = last.then(async () => {
      await upTo((await roster.refresh()).at)
      const result = await change(loaded())
      if (result.at !== undefined) {
        await roster.refresh()
        await upTo(result.at)
      }
      return result
    })
    last = turn.catch(() => {})
    return turn
  }
}
