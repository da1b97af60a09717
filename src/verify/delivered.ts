import { yieldToEventLoop } from '../async.ts'
import { companyOfLane } from '../domain/ids.ts'
import { keptDevicesIn, type KeptFix, type Position, readKeptHour, type Store } from '../store/index.ts'
import { windowOf } from './compare.ts'

/** A fix that was delivered to a lane, however often. */
export interface DeliveredFix extends Position {
  readonly device: string
  readonly lane: string
  readonly deliveries: number
  /** It is queued for the lane once more, and not delivered yet. */
  readonly isQueued: boolean
}

/** Fixes delivered to the lanes of a route in a window. */
export interface RouteWindow {
  /** `7/1003`: company and route. */
  readonly route: string
  /** When it begins, ms UTC. */
  readonly window: number
  readonly fixes: readonly DeliveredFix[]
}

/**
 * Resolves to the fixes delivered in an hour (since 1970), by route and window, in this order. Only the kept fixes tell which
 * devices have delivered to a route, so a change of the roster hides nothing.
 */
export async function deliveredIn(
  redis: Store,
  hour: number,
  isWanted: (route: string, window?: number) => boolean,
): Promise<RouteWindow[]> {
  const found = new Map<string, { route: string; window: number; fixes: DeliveredFix[] }>()
  const isWantedLane = (lane: string) => isWanted(routeOf(lane))
  for (const shard of redis.shards) {
    const devices = await keptDevicesIn(shard, hour)
    for (let at = 0; at < devices.length; at += AT_ONCE) {
      const some = devices.slice(at, at + AT_ONCE)
      const kept = await Promise.all(some.map((device) => readKeptHour(shard, device, hour, isWantedLane)))
      for (const [index, device] of some.entries()) {
        await yieldToEventLoop()
        for (const fix of deliveredOf(device, kept[index].fixes)) {
          const [route, window] = [routeOf(fix.lane), windowOf(fix.timestamp * 1000)]
          if (!isWanted(route, window)) continue
          const key = `${route} ${window}`
          const own = found.get(key)
          if (own) own.fixes.push(fix)
          else found.set(key, { route, window, fixes: [fix] })
        }
      }
    }
  }
  return [...found.values()]
    .map((each) => ({ ...each, fixes: distinct(each.fixes) }))
    .toSorted((one, other) =>
      one.route === other.route ? one.window - other.window : one.route < other.route ? -1 : 1,
    )
}

/** The routes to which something of an hour (since 1970) was delivered, sorted. */
export async function routesOfHour(redis: Store, hour: number): Promise<string[]> {
  const routes = new Set<string>()
  await deliveredIn(redis, hour, (route) => {
    routes.add(route)
    return false
  })
  return [...routes].toSorted()
}

/** Returns the route of a lane: `7/42/1003` → `7/1003`. The API returns the positions of a route without their couriers. */
export function routeOf(lane: string): string {
  return `${companyOfLane(lane)}${lane.slice(lane.lastIndexOf('/'))}`
}

/** Yields the delivered fixes of a device, once for each lane and fix; fixes that are only queued are left out. */
function* deliveredOf(device: string, kept: readonly KeptFix[]): Generator<DeliveredFix> {
  for (const same of Map.groupBy(kept, keyOf).values()) {
    const deliveries = same.filter(({ isQueued }) => !isQueued).length
    if (deliveries > 0) yield { ...same[0], device, deliveries, isQueued: same[same.length - 1].isQueued }
  }
}

/** Removes repeated fixes: if two devices send the same position, the API stores it once. */
function distinct(fixes: readonly DeliveredFix[]): DeliveredFix[] {
  const unique = new Map(fixes.map((fix) => [keyOf(fix), fix]))
  return [...unique.values()].toSorted((one, other) => one.timestamp - other.timestamp)
}

function keyOf({ lane, timestamp, latitude, longitude }: KeptFix): string {
  return `${lane} ${timestamp} ${latitude} ${longitude}`
}

const AT_ONCE = 50
