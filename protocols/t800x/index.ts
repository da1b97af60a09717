/*
 * Topflytech TLP, TLW, T8603, T8803, T8806, T8808: "PROTOCOL (T8803 Pro T8806)" V5.6 for 2323; of its successors, field lists alone
 * are public (flespi.com/protocols/topflytech): their offsets are inferred from frames. Big-endian, floats little-endian,
 * no checksum. TCP and UDP, where a datagram holds one packet or several.
 *
 *   HHHH TT LLLL SSSS IIIIIIIIIIIIIIII content
 *
 *   H  2323, 2525, 2626, 2727: families of devices     L  length of all
 *   T  type                                            S  serial number         I  0 and the IMEI
 *
 *   02, 04 (alarm) of 2323, 2525   x{9} F x{12} A x{6} P      of 2727: F A P
 *   13, 14 (alarm) of 2525         x{9} F x{20} A x{6} P
 *   05 of 2626, 2727               x P rpm{2} P rpm{2}        driving behaviour: places before and after
 *   10 with 34 bytes, 0003         YYMMDDhhmmss 00 0003 M{6} x{2} F p      a tag, from one frame; p is P without the date
 *   others                         P is looked for
 *   P  YYMMDDhhmmss, altitude, longitude, latitude (f32), speed (packed decimals, 0.1 km/h), course (u16, degrees)
 *   F  bit 6: fix, bits 4–0: satellites; without a fix there are cells in place of the position
 *
 * Answer: HHHH TT 000F SSSS I, and for alarms 04 and 14 one byte more, A; S is 1 in answers to 2323. Beacons (10) are answered
 * a second time, without I. Coordinates FF… are no position.
 */
import {
  ByteReader,
  ByteWriter,
  bcdYmd,
  DecodeError,
  type Fix,
  heading,
  isBcdYmd,
  kmh,
  lengthField,
  type Message,
  type Protocol,
} from '../kit/index.ts'

const frame = lengthField({ start: ['##', '%%', '&&', "''"], at: 3, width: 2, add: 0, most: 4096 })

export default {
  name: 't800x',
  devices: 'Topflytech TLP1, TLP2, TLW1, TLW2, T8603, T8803, T8806, T8808',
  acknowledges: 'fixes',
  tcp: { port: 5094, frame },
  udp: { port: 5094, frame },
  decode,
} satisfies Protocol

const OLDEST = 0x2323
const NEWEST = 0x2727
const FAMILIES = new Set([OLDEST, 0x2525, 0x2626, NEWEST])
const LOGIN = 0x01
const POSITION = 0x02
const HEARTBEAT = 0x03
const ALARM = 0x04
const BEHAVIOUR = 0x05
const BEACONS = 0x10
const ASSET = 0x13
const ASSET_ALARM = 0x14
const COMMAND = 0x81
const HEAD = 15

/** Where the flags and the code of the alarm stand, and where the position begins, behind the id. */
interface Layout {
  readonly flags: number
  readonly alarm: number
  readonly position: number
}
const TRACKER: Layout = { flags: 9, alarm: 22, position: 29 }
const ASSET_TRACKER: Layout = { flags: 9, alarm: 30, position: 37 }
const NEW_TRACKER: Layout = { flags: 0, alarm: 1, position: 2 }
const FIX = 0x40
const SATELLITES = 0x1f
const UNKNOWN = 0xffffffff

function decode(packet: Buffer): Message {
  const r = new ByteReader(packet)
  const family = r.u16()
  if (!FAMILIES.has(family)) throw new DecodeError('unsupported', 'the frame has the start bytes of no known family')
  const type = r.u8()
  const serial = r.skip(2).u16()
  const id = r.hex(8)
  const device = id.startsWith('0') ? id.slice(1) : id
  const answer = new ByteWriter().u16(family).u8(type).u16(HEAD)
  answer.u16(family === OLDEST ? 1 : serial).hex(id)
  const reply = answer.toBuffer()
  switch (type) {
    case LOGIN:
      return { device, none: 'login', reply }
    case HEARTBEAT:
      return { device, none: 'heartbeat', reply }
    case POSITION:
    case ALARM:
      return { device, ...position(packet, family === NEWEST ? NEW_TRACKER : TRACKER, { type, reply }) }
    case ASSET:
    case ASSET_ALARM:
      return { device, ...position(packet, ASSET_TRACKER, { type, reply }) }
    case BEHAVIOUR:
      return { device, ...behaviour(r.slice()), reply }
    case BEACONS:
      return { device, ...beacon(r.slice()), reply: [reply, reply.subarray(0, HEAD - 8)] }
    case COMMAND:
      return { device, none: 'command answer' }
    default: {
      const fixes = placesIn(r.slice())
      return { device, ...(fixes.length > 0 && { fixes }), reply }
    }
  }
}

function position(packet: Buffer, layout: Layout, { type, reply }: { type: number; reply: Buffer }): Message {
  const content = new ByteReader(packet, HEAD)
  const flags = content.at(layout.flags).u8()
  const alarm = content.at(layout.alarm).u8()
  const place = placeOf(content.skip(layout.position))
  return {
    ...((flags & FIX) === 0
      ? { none: 'cells' }
      : place
        ? { fixes: [{ ...place, satellites: flags & SATELLITES }] }
        : { none: 'no fix' }),
    reply: type === ALARM || type === ASSET_ALARM ? withAlarm(reply, alarm) : reply,
  }
}

function withAlarm(reply: Buffer, alarm: number): Buffer {
  const longer = Buffer.concat([reply, Buffer.of(alarm)])
  longer.writeUInt16BE(longer.length, 3)
  return longer
}

const TAG = 0x0003
const TAG_LENGTH = 34

/** A tag of this kind comes with the place where it was read. */
function beacon(content: Buffer): Message {
  const r = new ByteReader(content)
  if (content.length !== TAG_LENGTH || r.at(7).u16() !== TAG) return { none: 'beacons' }
  const flags = r.at(17).u8()
  if ((flags & FIX) === 0) return { none: 'beacons' }
  const place = placeOf(new ByteReader(Buffer.concat([content.subarray(0, 6), content.subarray(18)])))
  return place ? { fixes: [{ ...place, satellites: flags & SATELLITES }] } : { none: 'no fix' }
}

/** Places some seconds before and after something happened. */
function behaviour(content: Buffer): Message {
  const fixes = placesIn(content)
  return fixes.length > 0 ? { fixes } : { none: 'no fix' }
}

/** The places in content whose layout is not known: a date of the calendar, numbers on Earth, a speed and a course. */
function placesIn(content: Buffer): Fix[] {
  const fixes: Fix[] = []
  for (let at = 0; at + PLACE_LENGTH <= content.length; at++) {
    if (!isPlace(content, at)) continue
    const fix = placeOf(new ByteReader(content, at))
    if (fix) fixes.push(fix)
    at += PLACE_LENGTH - 1
  }
  return fixes
}

const PLACE_LENGTH = 22

function isPlace(bytes: Buffer, at: number): boolean {
  if (!isBcdYmd(bytes, at) || bytes.readUInt16BE(at + 20) > 360) return false
  const [altitude, longitude, latitude] = [6, 10, 14].map((offset) => bytes.readFloatLE(at + offset))
  return Math.abs(altitude) < 20_000 && Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90
}

/** Undefined without coordinates. */
function placeOf(r: ByteReader): Fix | undefined {
  const date = r.part(6)
  const angles = r.ahead(4)
  const [altitude, longitude, latitude] = [r.f32le(), r.f32le(), r.f32le()]
  const speed = r.hex(2)
  const course = r.u16()
  if (angles.u32le() === UNKNOWN && angles.u32le() === UNKNOWN) return undefined
  if (!Number.isFinite(latitude) || !Number.isFinite(longitude))
    throw new DecodeError('malformed', 'a place that is no number')
  return {
    time: bcdYmd(date),
    latitude,
    longitude,
    valid: true,
    altitude: Number.isFinite(altitude) ? altitude : undefined,
    speed: /^\d{4}$/.test(speed) ? kmh(Number(speed) / 10) : undefined,
    heading: heading(course),
  }
}
