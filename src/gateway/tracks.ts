/*
 * Places of a device, and whether a vehicle can be at one after the other.
 */

/** A position by the device's own time; degrees, unix seconds. */
export interface Whereabouts {
  readonly timestamp: number
  readonly latitude: number
  readonly longitude: number
}

/** A place that is copied from a fix, so that the fix itself need not stay in memory. */
export class MovingPlace implements Whereabouts {
  timestamp: number
  latitude: number
  longitude: number

  constructor({ timestamp, latitude, longitude }: Whereabouts) {
    this.timestamp = timestamp
    this.latitude = latitude
    this.longitude = longitude
  }

  moveTo({ timestamp, latitude, longitude }: Whereabouts): void {
    this.timestamp = timestamp
    this.latitude = latitude
    this.longitude = longitude
  }
}

/** Where one of two senders is. `fixes`: how many in a row can be reached from one another. */
export class Spot extends MovingPlace {
  fixes = 1

  goOn(place: Whereabouts): void {
    this.fixes = canReach(this, place) ? this.fixes + 1 : 1
    this.moveTo(place)
  }
}

/** Whether two senders each go on where they are, and neither can be where the other is. */
export function areApart(one: Spot | undefined, other: Spot | undefined): boolean {
  return one !== undefined && other !== undefined && one.fixes > 1 && other.fixes > 1 && !canReach(one, other)
}

/** A track of places that can be reached from one another. Its own place is the one with the latest time. */
export class PlaceTrack extends MovingPlace {
  fixes = 1
  /** When the first of these fixes arrived, and the latest, unix seconds. */
  #since: number
  #lastAt: number
  /** Seconds between two arrivals: the longest of the latest ones. */
  #everyS = 0

  constructor(place: Whereabouts, now: number) {
    super(place)
    this.#since = now
    this.#lastAt = now
  }

  get isEstablished(): boolean {
    return this.fixes >= ESTABLISHED && this.#lastAt - this.#since >= ESTABLISHED_S
  }

  /** Seconds without a fix after which the device is no longer on this track. */
  get silenceS(): number {
    return Math.max(STAYS_S, USUAL_TIMES * this.#everyS)
  }

  /** Goes on to a place that is later than its own, and arrives at `now`. Answers whether the place is later. */
  extend(place: Whereabouts, now: number): boolean {
    this.#everyS = Math.max(now - this.#lastAt, this.#everyS / 2)
    this.#lastAt = now
    const later = place.timestamp - this.timestamp
    if (later <= 0) return false
    // After a long silence almost every place can be reached: the first one may be a cold start.
    if (later > SILENCE_S) {
      this.fixes = 0
      this.#since = now
    }
    this.fixes++
    this.moveTo(place)
    return true
  }
}

/** Whether a vehicle can be at both places, in whichever order. */
export function canReach(from: Whereabouts, to: Whereabouts): boolean {
  // Most fixes are near the one before.
  if (Math.abs(to.latitude - from.latitude) + Math.abs(to.longitude - from.longitude) < SLACK_M / METRES_PER_DEGREE)
    return true
  const metres = SLACK_M + MAX_SPEED * Math.abs(to.timestamp - from.timestamp)
  const north = (to.latitude - from.latitude) * METRES_PER_DEGREE
  if (Math.abs(north) > metres) return false
  const degrees = Math.abs(to.longitude - from.longitude)
  const east =
    Math.min(degrees, 360 - degrees) * METRES_PER_DEGREE * Math.cos(((from.latitude + to.latitude) / 2) * RADIAN)
  return north * north + east * east <= metres * metres
}

/** m/s. A faster movement is impossible for a van, and for a train or ferry with a van on board. */
const MAX_SPEED = 70
/** The largest error of a receiver in metres, also in tunnels and between high buildings. */
const SLACK_M = 5000
/** Fixes of an established track, and seconds in which they arrive. */
export const ESTABLISHED = 5
const ESTABLISHED_S = 300
/** Seconds. */
const STAYS_S = 600
const SILENCE_S = 1800
const USUAL_TIMES = 3
const METRES_PER_DEGREE = 111_195
const RADIAN = Math.PI / 180
