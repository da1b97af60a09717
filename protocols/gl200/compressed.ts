/*
 * Binary reports of type 100: a place for each of many seconds. No specification is public; this is inferred from one frame,
 * whose 268 places are known.
 *
 *   … NNNN first then N − 1 of the others, in bits from the highest on:
 *
 *   011 S{12} G{9} O{32} Y{32} U{32}      first: speed, heading, longitude, latitude, time
 *   101 s{7} g{7} o{12} y{11}             the next second: what is added to these
 *   111 x{5}                              the next second, without a place
 *
 *   N  seconds     S  0.1 km/h     G  degrees     O, Y  1e-6 degrees     U  unix seconds
 */
import { BitReader, type Fix, heading, kmh } from '../kit/index.ts'

/** The places of a report, from behind the IMEI to the date of sending; none where it is laid out in another way. */
export function compressedPlaces(bytes: Buffer): Fix[] {
  const at = firstOf(bytes)
  return at < 0 ? [] : placesFrom(new BitReader(bytes.subarray(at)), bytes.readUInt16BE(at - 2))
}

const FIRST = 0b011
const NEXT = 0b101
const WITHOUT_PLACE = 0b111
/** Bytes of a first second, of the shortest one, and of N. */
const FIRST_LENGTH = 15
const SHORTEST = 1
const COUNT = 2
const EARLIEST = Date.UTC(2010, 0, 1) / 1000

/** Where the place of the first second begins, behind N; −1: there is none. By the mask, other fields of unknown length come before. */
function firstOf(bytes: Buffer): number {
  for (let at = COUNT; at + FIRST_LENGTH <= bytes.length; at++) {
    if (bytes[at] >> 5 !== FIRST || bytes.readUInt16BE(at - COUNT) * SHORTEST > bytes.length - at) continue
    const [longitude, latitude] = [bytes.readInt32BE(at + 3), bytes.readInt32BE(at + 7)]
    const isOnEarth = Math.abs(longitude) <= 180e6 && Math.abs(latitude) <= 90e6
    if (isOnEarth && bytes.readUInt32BE(at + 11) >= EARLIEST) return at
  }
  return -1
}

function placesFrom(bits: BitReader, count: number): Fix[] {
  const fixes: Fix[] = []
  let second: Second = { speed: 0, course: 0, longitude: 0, latitude: 0, time: 0 }
  for (let left = count; left > 0; left--) {
    const kind = bits.u(3)
    if (kind !== FIRST && kind !== NEXT && kind !== WITHOUT_PLACE) return []
    second = kind === FIRST ? first(bits) : { ...second, time: second.time + 1 }
    if (kind === NEXT) add(second, bits)
    if (kind === WITHOUT_PLACE) bits.skip(5)
    else fixes.push(fixOf(second))
  }
  return fixes
}

/** A place as it is counted: 0.1 km/h, degrees, 1e-6 degrees, unix seconds. */
interface Second {
  speed: number
  course: number
  longitude: number
  latitude: number
  readonly time: number
}

function first(bits: BitReader): Second {
  const [speed, course] = [bits.u(12), bits.u(9)]
  return { speed, course, longitude: bits.i(32), latitude: bits.i(32), time: bits.u(32) }
}

function add(second: Second, bits: BitReader): void {
  second.speed += bits.i(7)
  second.course += bits.i(7)
  second.longitude += bits.i(12)
  second.latitude += bits.i(11)
}

function fixOf({ speed, course, longitude, latitude, time }: Second): Fix {
  return {
    time: time * 1000,
    latitude: latitude / 1e6,
    longitude: longitude / 1e6,
    valid: true,
    speed: kmh(speed / 10),
    heading: heading((course + 360) % 360),
  }
}
