import { localDay, localFromUtc } from '../config/times.ts'

/** How people read an instant (RFC 3339): `08:14:02`, and of another day than today `2026-11-19 08:14:02`. */
export type Clock = (instant: string) => string

/** A clock of a time zone; `now`: ms UTC. */
export function clockIn(zone: string, now: number, precision: 'seconds' | 'minutes' = 'seconds'): Clock {
  const { from, until } = localDay(now, zone)
  return (instant) => {
    const at = Date.parse(instant)
    const [day, time] = new Date(localFromUtc(at, zone)).toISOString().split('T')
    const clock = time.slice(0, precision === 'seconds' ? 8 : 5)
    return at >= from && at < until ? clock : `${day} ${clock}`
  }
}
