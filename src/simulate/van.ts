import type { Fix } from '../../protocols/kit/index.ts'
import { between, type Random, seeded } from './random.ts'
import { createTour, type Leg } from './tour.ts'

/** A van on the road: where its receiver says that it is at a time, ms UTC. Times must not go back. */
export type Van = (time: number) => Fix

/** One that drives the same tour for the same seed, beginning at the first time that it is asked for. */
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
  /** Metres of the leg. */
  driven: number
  /** Seconds that it stands yet at the leg's end. */
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

/** A receiver's six decimals. */
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
