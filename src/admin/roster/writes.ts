import { setTimeout as sleep } from 'node:timers/promises'
import { inTurns } from '../../async.ts'
import type { Files } from '../../config/files.ts'
import type { Company, Config } from '../../config/schema.ts'
import { type Interval, timesIn } from '../../domain/times.ts'
import { ApiRefusal, refuseFields } from '../../http/refusal.ts'
import type { RosterFollower } from '../../roster/replica.ts'
import type { Roster } from '../../roster/roster.ts'
import { type RosterWrite, writeRoster } from '../../roster/table.ts'
import { isRosterApplied, ROSTER_HOLDS_MS } from '../../store/gateways.ts'
import type { Store } from '../../store/index.ts'
import { say } from '../../texts/text.ts'
import type { Scope } from '../scope.ts'

export interface RosterSources {
  readonly live: RosterInEffect
  readonly redis: Store
}

export interface RosterInEffect {
  readonly config: Pick<Config, 'keep' | 'roster' | 'time_zone'>
  directory(): Roster
  version(): number
  companies(): readonly Company[]
  /** The files of devices and routes in effect. */
  files(): Files | undefined
  /** Tells the follower of each change that took effect. */
  follow(follower: { readonly roster: RosterFollower }): void
  /** Resolves once all that was written to the roster is in effect in this process. */
  catchUp(): Promise<void>
}

/** What a change writes to the roster, if it writes anything. */
type Planned = Partial<Readonly<Record<'write', RosterWrite>>>
/** Gets the roster, and its version. */
type Planner<Plan extends Planned> = (roster: Roster, asOf: number) => Promise<Plan>

export type RosterWrites = ReturnType<typeof rosterWrites>

/** Changes of the roster in Redis, one at a time: each sees all that was written before it. */
export function rosterWrites({ redis, live }: RosterSources) {
  const inTurn = inTurns()

  async function write<Plan extends Planned>(plan: Planner<Plan>) {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      await live.catchUp()
      const asOf = live.version()
      const planned = await plan(live.directory(), asOf)
      const version = planned.write && (await writeRoster(redis, planned.write, asOf))
      if (version === null) continue
      const isWritten = version !== undefined && version !== asOf
      if (isWritten) await live.catchUp()
      return { ...planned, version: isWritten ? version : undefined }
    }
    throw new ApiRefusal(504, 'other processes change the roster all the time: nothing is changed; try again')
  }

  /**
   * Writes the result of `plan` in one step. Calls `plan` again if another process has written in between. Resolves once the
   * write is in effect in this process and at every gateway that answers in time, with the version of the write; without a
   * version if there was nothing to write. @throws ApiRefusal 504 if other processes write all the time
   */
  return async <Plan extends Planned>(plan: Planner<Plan>): Promise<Plan & { readonly version?: number }> => {
    const planned = await inTurn(() => write(plan))
    const { version } = planned
    if (version === undefined) return planned
    const deadline = performance.now() + ROSTER_HOLDS_MS
    // It is written: a Redis that goes away now is no reason to say that nothing was.
    const isApplied = () => isRosterApplied(redis, version).catch(() => false)
    while (!(await isApplied()) && performance.now() < deadline) await sleep(LOOK_MS)
    return planned
  }
}

const LOOK_MS = 20
const MOST_TRIES = 10

/**
 * Returns the company and the interval of a query; the interval in unix seconds. @throws ApiRefusal 404 for a company that is
 * unknown or not seen, 422 for an invalid interval
 */
export function intervalOf(
  live: RosterInEffect,
  { company_id, ...bounds }: Readonly<Record<'company_id' | 'from' | 'until', string>>,
  scope: Scope,
): Interval & { readonly company_id: string } {
  refuseCompany(live, company_id, scope)
  const from = instantIn(live, 'from', bounds.from)
  const until = instantIn(live, 'until', bounds.until)
  if (until <= from) throw refuseFields(422, [{ path: 'until', message: say('not after from') }])
  return { company_id, from, until }
}

/** @throws ApiRefusal 404 for a company that is unknown or not seen */
export function refuseCompany(live: Pick<RosterInEffect, 'companies'>, company_id: string, scope: Scope): void {
  if (!scope.sees(company_id) || !live.companies().some((company) => company.company_id === company_id))
    throw new ApiRefusal(404, `there is no company ${company_id} in gateway.yaml`)
}

/** Unix seconds of a time, or of `now`; of a day its beginning. @throws ApiRefusal 422 */
export function instantIn({ config }: Pick<RosterInEffect, 'config'>, path: string, text: string): number {
  if (text === 'now') return Math.floor(Date.now() / 1000)
  const times = timesIn(config.time_zone)
  // In a query, `+` stands for a space.
  const seconds = times.instant(text.replace(/ (?=\d\d:?\d\d$)/, '+')) ?? times.instant(text) ?? times.day(text)?.from
  if (seconds === undefined) throw refuseFields(422, [{ path, message: TIME_EXPECTED }])
  return seconds
}

/**
 * Returns the time at which devices are compared by whether they have a route: now, if it is in the interval, else the whole
 * interval. `now`: ms UTC.
 */
export function momentOf({ from, until }: Interval, now: number): Interval {
  const second = Math.floor(now / 1000)
  return second >= from && second < until ? { from: second, until: second + 1 } : { from, until }
}

const TIME_EXPECTED = 'expected a time such as 2026-11-20T06:00:00Z, local such as 2026-11-20 06:00, or a day'
