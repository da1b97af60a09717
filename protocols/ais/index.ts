/*
 * Ships: AIS sentences of NMEA 0183, as base stations and relays send them. ITU-R M.1371-5, annex 8. A line a sentence:
 *
 *   !AIVDM,N,K,Q,C,content,F*XX
 *
 *   N, K  of how many parts, and which     Q  what the parts have in common     F  filling bits behind the content
 *   content: 6 bits a character            X  XOR of what stands between ! and *
 *
 *   type 6 bits, repeats 2, MMSI 30, then
 *   1, 2, 3     status 4, turn 8, S 10, accuracy 1, O 28, A 27, G 12, …
 *   4, 11       UTC: year 14, month 4, day 5, hour 5, minute 6, second 6, accuracy 1, O 28, A 27, …  (base stations)
 *   9           altitude 12 in metres, S 10 in knots, accuracy 1, O 28, A 27, G 12, …                (aircraft)
 *   18, 19      8, S 10, accuracy 1, O 28, A 27, G 12, …
 *   21          type 5, name 120, accuracy 1, O 28, A 27, …                                          (buoys)
 *   27          accuracy 1, RAIM 1, status 4, O 18, A 17, S 6 in knots, G 9 in degrees               (over satellites)
 *
 *   S  speed, 1/10 knot, 1023 is none     O, A  longitude, latitude, 1/10000 minute, 181° and 91° are none, of 27 1/10 minute
 *   G  course, 1/10 degree, 3600 is none
 *
 * Each fix is of the ship that its MMSI names, as of its arrival where it has no time. Lines and tag blocks of other kinds are
 * passed over. Nothing is answered.
 */
import {
  assemble,
  BitReader,
  DecodeError,
  eachReadable,
  type Fix,
  heading,
  knots,
  line,
  type Message,
  type Protocol,
  type Session,
  utc,
  verify,
  xor,
} from '../kit/index.ts'

export default {
  name: 'ais',
  devices: 'AIS receivers, base stations and relays of ships',
  integrity: { checksum: 'xor', covers: (frame) => [frame.indexOf('!') + 1, frame.lastIndexOf('*')] },
  tcp: { port: 5130, frame: line },
  udp: { port: 5130 },
  decode,
} satisfies Protocol

const SENTENCE = /!(..VD[MO],(\d),(\d),(\d?),[^,]*,([^,]*),\d)\*([0-9A-Fa-f]{2})/g

function decode(frame: Buffer, session: Session): Message {
  const sentences = [...frame.toString('latin1').matchAll(SENTENCE)]
  if (sentences.length === 0) throw new DecodeError('unsupported', 'the frame has no sentence of AIS')
  const { good, unreadable } = eachReadable(sentences, (sentence) => sentenceOf(sentence, session))
  const fixes = good.filter((each) => typeof each === 'object')
  if (fixes.length > 0) return { fixes, unreadable }
  const none = good.find((each) => typeof each === 'string')
  return none === undefined ? { unreadable } : { none, unreadable }
}

/** Its fix; why there is none; undefined of an unknown type. */
function sentenceOf(match: RegExpExecArray, session: Session): Fix | string | undefined {
  const [, covered, count, index, key, content, sum] = match
  verify(xor(Buffer.from(covered, 'latin1')) === Number.parseInt(sum, 16), session)
  if (count === '1') return positionOf(content, session)
  const part = { key, index: Number(index) - 1, count: Number(count), content: Buffer.from(content, 'latin1') }
  const whole = assemble(part, session)
  return whole ? positionOf(whole.content.toString('latin1'), session) : 'part'
}

/** Types without a position: ship's data, messages, requests, assignments. */
const OTHERS = new Set([5, 6, 7, 8, 10, 12, 13, 14, 15, 16, 17, 20, 22, 23, 24, 25, 26])

function positionOf(content: string, session: Session): Fix | string | undefined {
  const r = new BitReader(bytesOf(content))
  const type = r.u(6)
  const device = String(r.skip(2).u(30)).padStart(9, '0')
  if (OTHERS.has(type)) return 'status'
  const report = reportOf(type, r)
  if (!report) return undefined
  const { longitude, latitude, time = session.now } = report
  if (Math.abs(longitude) > 180 || Math.abs(latitude) > 90) return 'no fix'
  return { ...report, device, time, valid: true }
}

type Report = Partial<Fix> & Pick<Fix, 'longitude' | 'latitude'>

function reportOf(type: number, r: BitReader): Report | undefined {
  switch (type) {
    case 1:
    case 2:
    case 3:
      return moving(r.skip(12), 10)
    case 4:
    case 11: {
      const time = timeOf(r)
      return { ...placeOf(r.skip(1)), time }
    }
    case 9: {
      const altitude = r.u(12)
      return { ...moving(r, 1), altitude: altitude < 4095 ? altitude : undefined }
    }
    case 18:
    case 19:
      return moving(r.skip(8), 10)
    case 21:
      return placeOf(r.skip(126))
    case 27: {
      const longitude = r.skip(6).i(18) / 600
      const latitude = r.i(17) / 600
      const speed = r.u(6)
      return { longitude, latitude, speed: speed < 63 ? knots(speed) : undefined, heading: courseOf(r.u(9)) }
    }
    default:
      return undefined
  }
}

/** Speed, accuracy, place and course. */
function moving(r: BitReader, perKnot: number): Report {
  const speed = r.u(10)
  const place = placeOf(r.skip(1))
  return { ...place, speed: speed < 1023 ? knots(speed / perKnot) : undefined, heading: courseOf(r.u(12) / 10) }
}

const courseOf = (degrees: number) => (degrees < 360 ? heading(degrees) : undefined)

function placeOf(r: BitReader): Report {
  const longitude = r.i(28) / 600_000
  return { longitude, latitude: r.i(27) / 600_000 }
}

/** Undefined where the clock is not set. */
function timeOf(r: BitReader): number | undefined {
  const [year, month, day, hour] = [r.u(14), r.u(4), r.u(5), r.u(5)]
  const [minute, second] = [r.u(6), r.u(6)]
  return year > 0 && hour < 24 ? utc(year, month, day, hour, minute, second) : undefined
}

/** Six bits a character, the most significant first. */
function bytesOf(content: string): Buffer {
  const bytes = Buffer.alloc(Math.ceil((content.length * 6) / 8))
  for (let i = 0; i < content.length; i++) {
    const code = content.charCodeAt(i) - 48
    const value = code > 40 ? code - 8 : code
    if (!(value >= 0 && value < 64)) throw new DecodeError('malformed', `"${content[i]}" is no character of six bits`)
    const at = (i * 6) >> 3
    const shifted = value << (10 - ((i * 6) & 7))
    bytes[at] |= shifted >> 8
    bytes[at + 1] |= shifted
  }
  return bytes
}
