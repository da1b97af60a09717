/*
 * Whether somebody else uses the id of a device. Two things are looked at, for each configured device:
 *
 * - Senders. Two that speak in turns are two: an older connection that speaks again after a newer one from another network or
 *   in another protocol; over UDP and HTTP, where a phone changes between networks, several turns within ten minutes (over HTTP
 *   only of protocols); and at once two that each go on at places of their own, which a vehicle cannot reach from one another. A sender that takes over from another, as after a change of the SIM card, is nothing odd.
 * - Places. A fix that a vehicle cannot reach from the track of the device, by the times of the fixes, is off the track.
 *   A receiver jumps, also several times, and comes back; when it starts cold its first fix may be anywhere. So what counts is a
 *   second track: places that can be reached from one another, to which the device has gone and come back three times in ten
 *   minutes (it is in two places), or where it stays (it has moved impossibly). The second track is the track once its fixes have
 *   arrived for ten minutes without a return, and for three times as long as the device is usually silent: who sends beside the van
 *   is off its track. A track of less than five fixes or five minutes may be a cold start: the next place replaces it. These minutes
 *   are those of the arrivals: one frame may have fixes of any times.
 *
 * Gateways tell each other who sends, where that changes, and once a minute where it is (gateway/admit/neighbours.ts).
 */

import { observations } from '../observe/observations.ts'
import { joined, say, type Text } from '../texts/text.ts'
import type { Sender } from './conversation.ts'
import { areApart, canReach, ESTABLISHED, MovingPlace, PlaceTrack, Spot, type Whereabouts } from './tracks.ts'

/** A suspicion and its evidence. */
export interface Suspicion {
  readonly code: 'claimed_twice' | 'impossible_move'
  readonly evidence: Text
}

/** Who sends fixes of a device now. */
interface Hearing {
  readonly now: number
  readonly sender?: Sender
}

/** The sender of a device's fixes, and the last position that it sent. */
export interface Sighting {
  readonly sender: Sender
  readonly place?: Whereabouts
}

/**
 * Remembers the configured devices that this gateway hears, to notice another sender with the same id, also at another
 * gateway.
 */
export class Trails {
  readonly #trails = new Map<string, DeviceTrail>()
  #follower: ((device: string, sighting: Sighting) => void) | undefined

  /** Calls `tell` for each device that is heard here: when its sender changes, and once a minute. */
  follow(tell: (device: string, sighting: Sighting) => void): void {
    this.#follower = tell
  }

  /** Returns the trail of a device of a company; `known`: the result of an earlier call, which saves the look-up. */
  of(device: string, company: string, known = this.#trails.get(device)): DeviceTrail {
    return known?.company === company ? known : this.#begin(device, company)
  }

  /** Notes the present sender of a device's fixes. Returns a suspicion, if there is one. */
  heard(device: string, trail: DeviceTrail, { now, sender }: Hearing): Suspicion | undefined {
    const last = trail.sender
    const isDue = Math.abs(now - trail.toldAt) >= TOLD_AGAIN_MS
    if (!sender || (sender === last && !isDue)) return undefined
    const suspicion = sender === last ? undefined : trail.heard(sender, now / 1000)
    if (isDue || (last && !isSame(last, sender))) {
      trail.toldAt = now
      this.#follower?.(device, { sender, place: trail.place })
    }
    return suspicion
  }

  /** Notes that another gateway hears a device; ignores devices that this gateway does not hear. */
  heardElsewhere(device: string, sighting: Sighting, now = Date.now()): void {
    noteSuspicion(device, this.#trails.get(device)?.heardElsewhere(sighting, now / 1000))
  }

  #begin(device: string, company: string): DeviceTrail {
    const [oldest] = this.#trails.size >= MAX_TRAILS ? this.#trails.keys() : []
    if (oldest !== undefined) this.#trails.delete(oldest)
    const trail = new DeviceTrail()
    trail.company = company
    this.#trails.set(device, trail)
    return trail
  }
}

/** The memory of one device: its last two senders and its last two tracks. */
export class DeviceTrail {
  /** Fixes in a row on the second track; 0: the last one was on the track. Only this class sets it, and `sender`, that of the last fix. */
  offTrack = 0
  sender: Sender | undefined
  /** The last place that was asked about here. */
  place: MovingPlace | undefined
  /** The company of the device, which is only shown its own places; written by `Trails`. */
  company: string | undefined
  /** When other gateways were last informed, ms; written by `Trails`. */
  toldAt = Number.NEGATIVE_INFINITY
  #earlier: Sender | undefined
  /** Where its last two senders are, once there are two. */
  #spot: Spot | undefined
  #earlierSpot: Spot | undefined
  #turns = NEVER
  #track: PlaceTrack | undefined
  #second: PlaceTrack | undefined
  #offSince = 0
  #returns = NEVER

  /** Notes that a sender has sent something at `now`, unix seconds. Returns a suspicion, if there is one. */
  heard(sender: Sender, now: number): Suspicion | undefined {
    const [last, earlier] = [this.sender, this.#earlier]
    if (last === sender) return undefined
    if (last && isSame(last, sender)) {
      this.sender = sender
      return undefined
    }
    this.sender = sender
    this.#earlier = last
    const isBack = earlier !== undefined && isSame(earlier, sender)
    // When a second sender comes, the first one is where the device was.
    const [spot, earlierSpot] = [this.#spot ?? (this.place && new Spot(this.place)), this.#earlierSpot]
    this.#spot = isBack ? earlierSpot : undefined
    this.#earlierSpot = spot
    if (!last || !isBack) return undefined
    if (areApart(spot, earlierSpot)) return { code: 'claimed_twice', evidence: turnsText(last, sender) }
    if (earlier.connectedAt !== sender.connectedAt) return undefined
    this.#turns = added(this.#turns, now)
    if (countOf(this.#turns, now) < (sender.connectedAt > 0 ? TURNS : TURNS_WITHOUT_CONNECTION)) return undefined
    return { code: 'claimed_twice', evidence: turnsText(last, sender) }
  }

  /**
   * Returns whether a fix that arrived at `now` (unix seconds), here or at another gateway, is off the device's track.
   * `suspicion` then tells whether that is suspicious.
   */
  isOff(place: Whereabouts, now: number, isHere = true): boolean {
    if (isHere) {
      if (this.place) this.place.moveTo(place)
      else this.place = new MovingPlace(place)
    }
    if (this.#earlier) {
      if (this.#spot) this.#spot.goOn(place)
      else this.#spot = new Spot(place)
    }
    const track = this.#track
    if (!track) this.#track = new PlaceTrack(place, now)
    else if (canReach(track, place)) {
      if (this.offTrack > 0) this.#returns = added(this.#returns, place.timestamp)
      this.offTrack = 0
      track.extend(place, now)
    } else if (!track.isEstablished) this.#track = new PlaceTrack(place, now)
    else return this.#isOffTrack(track, place, now)
    return false
  }

  /** Notes that another gateway hears the device at `now`, unix seconds. Returns a suspicion, if there is one. */
  heardElsewhere({ place, sender }: Sighting, now: number): Suspicion | undefined {
    const suspicion = this.heard(sender, now)
    return place && this.isOff(place, now, false) ? (suspicion ?? this.suspicion) : suspicion
  }

  /** The suspicion from the last fix that was off the track. */
  get suspicion(): Suspicion | undefined {
    const [track, second] = [this.#track, this.#second]
    if (!track || !second || this.offTrack === 0) return undefined
    const isTwice = second.fixes >= SECOND && countOf(this.#returns, second.timestamp) >= RETURNS
    if (!isTwice && this.offTrack < ESTABLISHED) return undefined
    return {
      code: isTwice ? 'claimed_twice' : 'impossible_move',
      evidence: joined([placeText(track), placeText(second)], '; '),
    }
  }

  #isOffTrack(track: PlaceTrack, place: Whereabouts, now: number): boolean {
    if (this.offTrack === 0) this.#offSince = now
    if (!this.#second || !canReach(this.#second, place)) {
      this.#second = new PlaceTrack(place, now)
      this.offTrack = 1
      this.#offSince = now
    } else if (this.#second.extend(place, now)) this.offTrack++
    if (this.offTrack < ESTABLISHED || now - this.#offSince < track.silenceS) return true
    this.#track = this.#second
    this.#second = undefined
    this.offTrack = 0
    return false
  }
}

function turnsText(one: Sender, other: Sender): Text {
  return say('{} and {} in turns', nameOf(one), nameOf(other))
}

/** Has what is odd about a device among the findings; `now`: when that came, ms UTC. */
export function noteSuspicion(device: string, suspicion: Suspicion | undefined, now?: number): void {
  if (suspicion) observations.note(suspicion.code, { subject: { device }, evidence: suspicion.evidence, now })
}

/** The last times at which something happened, with one more. */
function added(times: readonly number[], time: number): readonly number[] {
  return [...times, time].slice(-TURNS_WITHOUT_CONNECTION)
}

/** How often it happened in the ten minutes around a time. */
function countOf(times: readonly number[], now: number): number {
  let count = 0
  for (const time of times) if (Math.abs(now - time) < WINDOW_S) count++
  return count
}

function isSame(one: Sender, other: Sender): boolean {
  return one.network === other.network && one.protocol === other.protocol
}

function nameOf({ network, protocol }: Sender): Text {
  return network === '' ? protocol : say('{} from {}', protocol, network)
}

function placeText({ timestamp, latitude, longitude }: Whereabouts): Text {
  const time = new Date(timestamp * 1000).toISOString().slice(11, 16)
  return say('{},{} at {} UTC', latitude.toFixed(2), longitude.toFixed(2), time)
}

const MAX_TRAILS = 200_000
/** Fixes of a second track; returns from it. */
const SECOND = 3
const RETURNS = 3
/** Turns of two senders. */
const TURNS = 2
const TURNS_WITHOUT_CONNECTION = 6
/** Seconds. */
const WINDOW_S = 600
const TOLD_AGAIN_MS = 60_000
const NEVER: readonly number[] = []
