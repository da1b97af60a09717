import { between, type Random } from './random.ts'

/** Metres east and north of the city's centre. */
interface Place {
  readonly east: number
  readonly north: number
}

/** One straight piece of a street. */
export interface Leg {
  readonly from: Place
  readonly to: Place
  readonly metres: number
  /** Whole degrees from true north. */
  readonly heading: number
  /** Whole kilometres an hour. */
  readonly speed: number
  /** How long a van stands at its end, seconds. */
  readonly stop: number
}

/** A closed tour on a city's grid of streets: from stop to stop in a ring around the depot, turning at corners. */
export function createTour(random: Random): readonly Leg[] {
  const stops = ring(random)
  return stops.flatMap((from, index) => {
    const to = stops[(index + 1) % stops.length]
    const corner = index % 2 === 0 ? { along: to.along, across: from.across } : { along: from.along, across: to.across }
    const wait = Math.round(between(random, 15, 60))
    return [leg(from, corner, 0, random), leg(corner, to, wait, random)].filter(({ metres }) => metres > 0)
  })
}

/** On the grid: blocks along and across its streets. */
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
  const degrees = Math.round((Math.atan2(east, north) * 180) / Math.PI)
  return {
    from,
    to,
    metres: Math.hypot(east, north),
    heading: (degrees + 360) % 360,
    speed: Math.round(between(random, 20, 60)),
    stop,
  }
}

function placeOf({ along, across }: Crossing): Place {
  return {
    east: BLOCK * (along * Math.cos(TILT) - across * Math.sin(TILT)),
    north: BLOCK * (along * Math.sin(TILT) + across * Math.cos(TILT)),
  }
}

/** Metres from crossing to crossing, blocks between depots and the centre, and how the grid lies to the north. */
const BLOCK = 140
const SPREAD = 25
const TILT = 0.31
