import type { Fix } from '../../protocols/kit/index.ts'
import { between, type Random, seeded } from './random.ts'

/** A driving van: the fix of its receiver at a time, ms UTC. Times must not go back. */
export type Van = (time: number) => Fix

/** Returns a van that begins its tour at the first time asked for. Equal seeds give equal tours. */
export function createVan(seed: number): Van {
  const random = seeded(seed)
  const legs = createTour(random)
  const wheels = { legs, index: Math.floor(random() * legs.length), driven: 0, standing: 0 }
  let hdop = between(random, 0.7, 1.1)
  let last: number | undefined

  return (time) => {
    drive(wheels, (time - (last ?? time)) / 1000)
    last = time
    hdop = wander(hdop, random)
    return fixOf(wheels, time, Math.round(hdop * 10) / 10)
  }
}

interface Wheels {
  readonly legs: readonly Leg[]
  index: number
  /** Metres of the leg that are driven. */
  driven: number
  /** Seconds that it still stands at the end of the leg. */
  standing: number
}

function drive(wheels: Wheels, seconds: number): void {
  for (let left = seconds; left > 0; ) {
    const { metres, speed, stop } = wheels.legs[wheels.index]
    if (wheels.driven < metres) {
      const needed = (metres - wheels.driven) / (speed / 3.6)
      wheels.driven = left < needed ? wheels.driven + (left * speed) / 3.6 : metres
      wheels.standing = stop
      left -= needed
    } else if (left < wheels.standing) {
      wheels.standing -= left
      return
    } else {
      left -= wheels.standing
      wheels.index = (wheels.index + 1) % wheels.legs.length
      wheels.driven = 0
    }
  }
}

function fixOf({ legs, index, driven, standing }: Wheels, time: number, hdop: number): Fix {
  const { from, to, metres, heading, speed } = legs[index]
  const share = driven / metres
  const stands = driven >= metres && standing > 0
  return {
    time,
    latitude: degrees(CENTRE.latitude + (from.north + (to.north - from.north) * share) / METRES_PER_DEGREE),
    longitude: degrees(CENTRE.longitude + (from.east + (to.east - from.east) * share) / METRES_PER_DEGREE_EAST),
    valid: true,
    altitude: 34,
    speed: stands ? 0 : speed / 3.6,
    heading,
    accuracy: Math.round(hdop * 5),
    hdop,
    satellites: Math.round(16 - hdop * 5),
  }
}

/** Degrees with the six decimals of a receiver. */
function degrees(value: number): number {
  return Math.round(value * 1e6) / 1e6
}

function wander(hdop: number, random: Random): number {
  return Math.min(1.8, Math.max(0.6, hdop + between(random, -0.1, 0.1)))
}

/** Berlin. */
const CENTRE = { latitude: 52.52, longitude: 13.405 }
const METRES_PER_DEGREE = 111_320
const METRES_PER_DEGREE_EAST = METRES_PER_DEGREE * Math.cos((CENTRE.latitude * Math.PI) / 180)

/** Metres east and north of the city's centre. */
interface StreetPoint {
  readonly east: number
  readonly north: number
}

/** One straight piece of a street. */
interface Leg {
  readonly from: StreetPoint
  readonly to: StreetPoint
  readonly metres: number
  /** Whole degrees from true north. */
  readonly heading: number
  /** Whole kilometres an hour. */
  readonly speed: number
  /** How long a van stands at its end, seconds. */
  readonly stop: number
}

/** A closed tour on a city's grid of streets: from stop to stop in a ring around the depot, turning at corners. */
function createTour(random: Random): readonly Leg[] {
  const stops = ring(random)
  return stops.flatMap((from, index) => {
    const to = stops[(index + 1) % stops.length]
    const corner = index % 2 === 0 ? { along: to.along, across: from.across } : { along: from.along, across: to.across }
    const wait = Math.round(between(random, 15, 60))
    return [leg(from, corner, 0, random), leg(corner, to, wait, random)].filter(({ metres }) => metres > 0)
  })
}

/** A crossing of the grid, in blocks along and across its streets. */
interface Crossing {
  readonly along: number
  readonly across: number
}

function ring(random: Random): Crossing[] {
  const depot = { along: between(random, -SPREAD, SPREAD), across: between(random, -SPREAD, SPREAD) }
  const count = Math.round(between(random, 6, 12))
  return Array.from({ length: count }, (_, index) => {
    const angle = ((index + random() / 2) / count) * 2 * Math.PI
    const radius = between(random, 6, 22)
    return {
      along: Math.round(depot.along + radius * Math.cos(angle)),
      across: Math.round(depot.across + radius * Math.sin(angle)),
    }
  })
}

function leg(start: Crossing, end: Crossing, stop: number, random: Random): Leg {
  const [from, to] = [placeOf(start), placeOf(end)]
  const [east, north] = [to.east - from.east, to.north - from.north]
  const angle = Math.round((Math.atan2(east, north) * 180) / Math.PI)
  return {
    from,
    to,
    metres: Math.hypot(east, north),
    heading: (angle + 360) % 360,
    speed: Math.round(between(random, 20, 60)),
    stop,
  }
}

function placeOf({ along, across }: Crossing): StreetPoint {
  return {
    east: BLOCK * (along * Math.cos(TILT) - across * Math.sin(TILT)),
    north: BLOCK * (along * Math.sin(TILT) + across * Math.cos(TILT)),
  }
}

/** Metres between crossings, blocks from the centre to a depot at most, and the angle of the grid to the north. */
const BLOCK = 140
const SPREAD = 25
const TILT = 0.31
