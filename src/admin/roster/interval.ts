import { type Interval, timesIn } from '../../config/times.ts'
import { ApiRefusal, refuseFields } from '../../tracking/refusal.ts'
import type { RosterInEffect } from './writes.ts'
import type { Scope } from '../scope.ts'

/** A company and an interval, as a query names them; the interval in unix seconds. @throws ApiRefusal 404 for a company that is unknown or not seen, 422 for what is no interval */
export function intervalOf(
  live: RosterInEffect,
  { company_id, ...bounds }: Readonly<Record<'company_id' | 'from' | 'until', string>>,
  scope: Scope,
): Interval & { readonly company_id: string } {
  if (!scope.sees(company_id) || !live.companies().some((company) => company.company_id === company_id))
    throw new ApiRefusal(404, `there is no company ${company_id} in gateway.yaml`)
  const from = instantIn(live, 'from', bounds.from)
  const until = instantIn(live, 'until', bounds.until)
  if (until <= from) throw refuseFields(422, [{ path: 'until', message: 'not after from' }])
  return { company_id, from, until }
}

/** Unix seconds of a time; of a day its beginning. @throws ApiRefusal 422 */
export function instantIn({ config }: Pick<RosterInEffect, 'config'>, path: string, text: string): number {
  const times = timesIn(config.time_zone)
  // What a `+` in a query stands for.
  const seconds = times.instant(text.replace(/ (?=\d\d:?\d\d$)/, '+')) ?? times.instant(text) ?? times.day(text)?.from
  if (seconds === undefined) throw refuseFields(422, [{ path, message: TIME_EXPECTED }])
  return seconds
}

/**
 * The time at which devices are compared by whether they have a route: now, if it lies in the interval, else the whole
 * interval. `now`: ms UTC.
 */
export function momentOf({ from, until }: Interval, now: number): Interval {
  const second = Math.floor(now / 1000)
  return second >= from && second < until ? { from: second, until: second + 1 } : { from, until }
}

const TIME_EXPECTED = 'expected a time such as 2026-11-20T06:00:00Z, local such as 2026-11-20 06:00, or a day'
