/*
 * Xexun devices of a second generation (XT series with BLE, wifi and cells). "Xexun GPS Protocol" 1.1 for 0020; the rest is
 * inferred from frames. TCP, big-endian; FAAF and FBBF in between are FBBF01 and FBBF02, in kind 0020 FBBF02 and FBBF01.
 *
 *   FAAF KKKK NNNN IIIIIIIIIIIIIIII LLLL CCCC content FAAF      answer: the same with L 1 and the content 01: accepted
 *   content of 0014   count, LLLL of each record, then the records; if these do not add up: count, (LLLL, record)…
 *   record            nn TTTTTTTT rr BBBB mm …
 *   … with bit 1 of m:    ss data of each bit of s:  bit 0  n OOOOOOOO AAAAAAAA       GPS, floats
 *                                                    bit 1  count of 7 bytes          wifi
 *                                                    bit 2  count of 13 bytes         cells
 *                                                    bit 7  LLLL, then (47 LLLL O… A… xx n …)     GPS, doubles
 *
 *   content of 0020   (tag, length, value)…, each with its time: 00  TTTTTTTT OOOOOOOO AAAAAAAA HHHHHHHH n x SSSS DDDD …  GPS
 *
 *   H  metres, a float      S  0.1 km/h      D  0.1 degrees
 *   I  IMEI, packed decimals, and a digit more      O, A  dddmm.mmmm, ddmm.mmmm, signed      n  satellites
 *   T  unix seconds                                 C     complement of the sum of the content
 *   B  own battery, %; bit 15: it is charged
 *
 * Other bits of s are passed over where they follow; where they precede, the record is not read.
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  degreesMinutes,
  EndSearch,
  eachReadable,
  enveloped,
  type Fix,
  heading,
  kmh,
  Marks,
  type Message,
  type Protocol,
  readableFixes,
  type Said,
  type Session,
  type Stream,
  said,
  sum16,
  tlv,
  verify,
} from '../kit/index.ts'
import { escapeMarks, unescapeMarks } from './escapes.ts'

export default {
  name: 'xexun2',
  devices: 'Xexun of the second generation',
  acknowledges: 'fixes',
  integrity: { checksum: 'complement of the sum of 16 bits', covers: [18, -2] },
  tcp: { port: 5233, frame: frameLength },
  decode,
} satisfies Protocol

const FLAG = Buffer.from([0xfa, 0xaf])
const REPORT = 0x0014
const TAGGED = 0x0020
const TAGGED_GPS = 0x00
const LOCATION = 0x02
const CHARGING = 0x8000
const GPS = 0x01
const WIFI = 0x02
const CELLS = 0x04
const EXTENDED = 0x80
const EXTENDED_GPS = 0x47
const starts = new Marks(FLAG)
const ends = new EndSearch(FLAG)

function frameLength(bytes: Buffer, stream: Stream): number {
  const length = starts.lengthAt(bytes, 0)
  if (length === 0) return -starts.next(bytes, 1)
  if (length < 0) return 0
  // The end of a frame that was lost, then a beginning.
  return starts.lengthAt(bytes, 2) > 0 ? -2 : ends.after(bytes, 2, stream)
}

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(unescapeMarks(frame.subarray(2, -2)))
  const kind = r.u16()
  const head = r.at(0).slice(12)
  const device = r.skip(2).bcd(8).slice(0, 15)
  r.skip(2)
  const sum = r.u16()
  const content = r.slice()
  verify(sum === complement(content), session)
  const reply = answer(head)
  return enveloped({ device, reply }, () => {
    if (kind === TAGGED) return taggedOf(new ByteReader(content))
    return kind === REPORT ? recordsOf(new ByteReader(content)) : {}
  })
}

function taggedOf(r: ByteReader): Message {
  const places = [...tlv(r, { tag: 1, length: 1 })].filter(({ tag, value }) => tag === TAGGED_GPS && value.left > 0)
  return readableFixes(places, ({ value }) => taggedFix(value), { none: 'no place' })
}

function taggedFix(r: ByteReader): Fix {
  const time = r.u32() * 1000
  const longitude = degreesMinutes(r.f32())
  const latitude = degreesMinutes(r.f32())
  const altitude = r.f32()
  const place = placeAt(time, { longitude, latitude, satellites: r.u8() })
  const speed = kmh(r.skip(1).u16() / 10)
  return { ...place, altitude, speed, heading: heading(r.u16() / 10) }
}

function complement(content: Uint8Array): number {
  return ~sum16(content) & 0xffff
}

function answer(head: Buffer): Buffer {
  const accepted = Buffer.from([0x01])
  const content = new ByteWriter().bytes(head).u16(1).u16(complement(accepted)).bytes(accepted).toBuffer()
  return Buffer.concat([FLAG, escapeMarks(content), FLAG])
}

function recordsOf(r: ByteReader): Message {
  const records = lengthsFirst(r) ?? lengthsBetween(r)
  const { good, unreadable } = eachReadable(
    records,
    (record) => recordOf(new ByteReader(record)),
    ({ isRead }) => !isRead,
  )
  const fixes = good.flatMap(({ fix }) => (fix ? [fix] : []))
  if (fixes.length > 0) return { fixes, unreadable }
  const besides = good.at(-1)?.said
  if (good.every(({ isRead }) => isRead)) return { none: 'no place', said: besides, unreadable }
  return { fixes: [], said: besides }
}

/** The records, if all lengths precede them and add up to what is left; else undefined, and nothing is read. */
function lengthsFirst(r: ByteReader): readonly Buffer[] | undefined {
  const content = r.ahead()
  const count = content.u8()
  if (content.left < 2 * count) return undefined
  const lengths = Array.from({ length: count }, () => content.u16())
  const total = lengths.reduce((sum, length) => sum + length, 0)
  return total === content.left ? lengths.map((length) => content.slice(length)) : undefined
}

/** The records, each behind its own length. */
function lengthsBetween(r: ByteReader): readonly Buffer[] {
  return Array.from({ length: r.u8() }, () => r.slice(r.u16()))
}

/** What a record says; without a fix, whether all of it was read. */
interface Reading {
  readonly fix?: Fix
  readonly isRead: boolean
  readonly said?: Said
}

function recordOf(r: ByteReader): Reading {
  // By zeros newer devices ask which protocol is spoken: that of the answer 01 is this one.
  if (
    r
      .ahead()
      .slice()
      .every((byte) => byte === 0)
  )
    return { isRead: true }
  const time = r.skip(1).u32() * 1000
  const battery = r.skip(1).u16()
  const besides = said({ battery_percent: battery & ~CHARGING, charging: (battery & CHARGING) !== 0 })
  const { fix, isRead } = locationOf(r, time)
  return { fix: fix && { ...fix, said: besides }, isRead, said: besides }
}

function locationOf(r: ByteReader, time: number): Reading {
  const parts = r.u8()
  if ((parts & LOCATION) === 0) return { isRead: true }
  // What the lower bit of the parts brings comes first, and has not been seen.
  if ((parts & (LOCATION - 1)) !== 0) return { isRead: false }
  const sources = r.u8()
  if (sources & GPS) {
    const satellites = r.u8()
    const longitude = degreesMinutes(r.f32())
    return { isRead: true, fix: placeAt(time, { satellites, longitude, latitude: degreesMinutes(r.f32()) }) }
  }
  if (sources & WIFI) r.skip(r.u8() * 7)
  if ((sources & EXTENDED) === 0) return { isRead: true }
  if (sources & CELLS) r.skip(r.u8() * 13)
  if ((sources & ~EXTENDED & ~WIFI & ~CELLS) !== 0) return { isRead: false }
  for (const { tag, value } of tlv(new ByteReader(r.slice(r.u16())), { tag: 1, length: 2 }))
    if (tag === EXTENDED_GPS) return { isRead: true, fix: extendedFix(value, time) }
  return { isRead: false }
}

function extendedFix(r: ByteReader, time: number): Fix {
  const longitude = degreesMinutes(r.f64())
  const latitude = degreesMinutes(r.f64())
  const satellites = r.skip(1).u8()
  return { ...placeAt(time, { longitude, latitude, satellites }), altitude: r.skip(5).f32() }
}

function placeAt(time: number, place: Pick<Fix, 'latitude' | 'longitude' | 'satellites'>): Fix {
  if (!Number.isFinite(place.latitude) || !Number.isFinite(place.longitude))
    throw new DecodeError('malformed', 'an angle')
  return { time, ...place, valid: true }
}
