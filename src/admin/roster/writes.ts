import { setTimeout as sleep } from 'node:timers/promises'
import { inTurns } from '../../async.ts'
import type { Files } from '../../config/files.ts'
import type { Company, Config } from '../../config/schema.ts'
import { isRosterApplied } from '../../ingest/gateways.ts'
import { type Redis, type RosterWrite, writeRoster } from '../../lanes/index.ts'
import { ROSTER_HOLDS_MS } from '../../roster/replica.ts'
import type { Roster } from '../../roster/roster.ts'
import { ApiRefusal } from '../../tracking/refusal.ts'

/** The roster in effect in this process. */
export interface RosterInEffect {
  readonly config: Pick<Config, 'time_zone'>
  directory(): Roster
  version(): number
  companies(): readonly Company[]
  /** The files of devices and routes in effect. */
  files(): Files | undefined
  /** Resolves once all that was written to the roster is in effect in this process. */
  catchUp(): Promise<void>
}

/** Changes of the roster, one at a time: each sees all that was written before it. */
export interface RosterWrites {
  /**
   * Writes what `plan` answers, in one step. Where another process has written since `plan` saw the roster, it is asked again.
   * Resolves once the write is in effect in this process, and at every gateway that answers in time.
   * @throws ApiRefusal 504 where others write all the time
   */
  <Plan extends { readonly write?: RosterWrite }>(plan: (roster: Roster) => Promise<Plan>): Promise<Plan>
}

/** Writes to the roster in Redis. */
export function rosterWrites({ redis, live }: { redis: Redis; live: RosterInEffect }): RosterWrites {
  const inTurn = inTurns()
  return async (plan) => {
    const written = await inTurn(() => writePlanned(redis, live, plan))
    if (written.version !== undefined) await appliedEverywhere(redis, written.version)
    return written.planned
  }
}

async function writePlanned<Plan extends { readonly write?: RosterWrite }>(
  redis: Redis,
  live: RosterInEffect,
  plan: (roster: Roster) => Promise<Plan>,
): Promise<{ planned: Plan; version?: number }> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    await live.catchUp()
    const asOf = live.version()
    const planned = await plan(live.directory())
    if (!planned.write) return { planned }
    const version = await writeRoster(redis, planned.write, asOf)
    if (version === null) continue
    await live.catchUp()
    return { planned, version }
  }
  throw new ApiRefusal(504, 'other processes change the roster all the time: nothing is changed; try again')
}

async function appliedEverywhere(redis: Redis, version: number): Promise<void> {
  const deadline = performance.now() + ROSTER_HOLDS_MS
  while (!(await isRosterApplied(redis, version)) && performance.now() < deadline) await sleep(LOOK_MS)
}

const LOOK_MS = 20
const MOST_TRIES = 10
