/*
 * Topflytech TLD, TLP, TLW, T8603, T8803, T8806, T8808: "PROTOCOL (T8803 Pro T8806)" V5.6 for 2323; its successors as the maker's
 * own codec reads them (github.com/TOPFLYtech/TOPFLYtechCodec). Big-endian, floats little-endian, no checksum. TCP and UDP,
 * where a datagram holds one packet or several.
 *
 *   HHHH TT LLLL SSSS IIIIIIIIIIIIIIII content
 *
 *   H  2323, 2525, 2626, 2727: families of devices     L  length of all
 *   T  type                                            S  serial number         I  0 and the IMEI
 *
 *   02, 04 (alarm) of 2323, 2525   x{9} F x{6} B x{4} A x{5} % P [V]            16, 18 (alarm): the same, then axes
 *   02, 04 (alarm) of 2626         x{9} F x{6} B A x{5} % P V S …              16, 18 (alarm): the same
 *   13, 14 (alarm) of 2525         x{9} F x{6} B x{12} A x{5} % P U V          33, 34 (alarm): the same, then axes
 *   02, 04 (alarm) of 2727         F A P x{5} % x{2} u x{5} b
 *   24, 25 of 2727                 F A P s x{15} % x{2} u x{5} b     bit 5 of F: radios in place of the position; s: satellites
 *   05                             x P rpm{2} P rpm{2}        driving behaviour: places before and after; of 2727 a network
 *   06, 07, 12, 17, 23, 27         a date and a place apart; 62, 64 of 2626, 2727: typed values; see events.ts
 *   10 with 34 bytes, 0002, 0003   YYMMDDhhmmss 00 000k M{6} x a F p      an emergency button, a driver's tag M; a 1: battery
 *   others                         P is looked for
 *   P  YYMMDDhhmmss, altitude, longitude, latitude (f32), speed (packed decimals, 0.1 km/h), course (u16, degrees)
 *   p  P without the date      S  speed by the vehicle, as in P
 *   F  bit 6: fix, bits 4–0: satellites; without a fix there are cells in place of the position
 *   B  16 bits, bit 14: ignition      %  own battery, packed decimals; 0: 100      V, U, u  external power, own battery: packed
 *   b  16 bits; bit 2: ignition, bits 15 and 3: charged by USB, by the sun          decimals, 0.01 V (u: one byte, 0.1 V)
 *   A  alarm; those of 2727 are not known
 *
 * Answer: HHHH TT 000F SSSS I, and for alarms (64; 24, 25: if not 0) one byte more, A; S is 1 in answers to 2323. Beacons
 * (10) are answered a second time, without I. Coordinates FF… are no position.
 */
import {
  type Alarm,
  alarmsOf,
  ByteReader,
  ByteWriter,
  DecodeError,
  enveloped,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  type Said,
  said,
} from '../kit/index.ts'
import { type Answered, coded, eventOf, isEvent } from './events.ts'
import { DATE, FIX, placeOf, placesIn, SATELLITES } from './place.ts'

const frame = lengthField({ start: ['##', '%%', '&&', "''"], at: 3, width: 2, add: 0, most: 4096 })

export default {
  name: 't800x',
  devices: 'Topflytech TLD1, TLP1, TLP2, TLW1, TLW2, T8603, T8803, T8806, T8808',
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
const COMMAND = 0x81
/** Positions and alarms with the axes of an accelerometer, which NEWEST does not have; those of assets, without and with them. */
const [WITH_AXES, ASSETS] = [new Set([0x16, 0x18]), new Set([0x13, 0x14, 0x33, 0x34])]
const ALARMED = new Set([ALARM, 0x14, 0x18, 0x34])
/** Of NEWEST: positions, or the radios in their place; and the flag of those. */
const [RADIOS, BY_RADIOS] = [new Set([0x24, 0x25]), 0x20]
/** Types without a position. */
const NONE = new Map([
  [0x11, 'status'],
  [0x15, 'wifi'],
  [0x21, 'serial data'],
  [0x22, 'OBD'],
])
const HEAD = 15

/** Where fields stand behind the id: flags, code of the alarm, position, and what else it says; left out: it has none of it. */
interface Layout {
  readonly flags: number
  readonly alarm: number
  readonly position: number
  readonly battery: number
  readonly volts?: number
  readonly inputs?: number
  readonly external?: number
  readonly speed?: number
  readonly satellites?: number
  readonly state?: number
}
const TRACKER: Layout = { flags: 9, inputs: 16, alarm: 22, battery: 28, position: 29, external: 51 }
const OBD_TRACKER: Layout = { flags: 9, inputs: 16, alarm: 18, battery: 24, position: 25, external: 47, speed: 49 }
const ASSET_TRACKER: Layout = { flags: 9, inputs: 16, alarm: 30, battery: 36, position: 37, volts: 59, external: 61 }
const NEW_TRACKER: Layout = { flags: 0, alarm: 1, position: 2, battery: 29, volts: 32, state: 38 }
const RADIO_TRACKER: Layout = { flags: 0, alarm: 1, position: 2, satellites: 24, battery: 40, volts: 43, state: 49 }
const LAYOUTS = new Map([
  [0x2626, OBD_TRACKER],
  [NEWEST, NEW_TRACKER],
])
const [IGNITION, NEW_IGNITION, BY_USB, BY_SUN] = [0x4000, 0x0004, 0x8000, 0x0008]
const ALARMS: Readonly<Record<number, Alarm | undefined>> = {
  1: 'power_cut',
  2: 'low_battery',
  3: 'sos',
  7: 'tow',
  8: 'vibration',
  0x21: 'jamming',
  0x23: 'power_restored',
  0x24: 'low_power',
  0x26: 'accident',
  0x27: 'accident',
}

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
  const plain = answer.toBuffer()
  const layout = layoutOf(family, type)
  const isAlarm = ALARMED.has(type) || (layout === RADIO_TRACKER && packet[HEAD + layout.alarm] > 0)
  const reply = isAlarm && isPosition(family, type) ? withAlarm(plain, packet, layout) : plain
  if (type === COMMAND) return { device, none: 'command answer' }
  return enveloped({ device, reply }, () => contentOf(packet, family, { type, reply }))
}

function layoutOf(family: number, type: number): Layout {
  if (family === NEWEST && RADIOS.has(type)) return RADIO_TRACKER
  return ASSETS.has(type) ? ASSET_TRACKER : (LAYOUTS.get(family) ?? TRACKER)
}

const isPosition = (family: number, type: number): boolean =>
  type === POSITION ||
  type === ALARM ||
  (family === NEWEST ? RADIOS.has(type) : ASSETS.has(type) || WITH_AXES.has(type))

/** What stands behind the id, and the answer where it is another one. */
function contentOf(packet: Buffer, family: number, { type, reply }: Answered): Message {
  const rest = packet.subarray(HEAD)
  if (isPosition(family, type)) return position(packet, layoutOf(family, type), ALARMED.has(type))
  if (isEvent(type)) return eventOf(rest, family, { type, reply })
  switch (type) {
    case LOGIN:
      return { none: 'login' }
    case HEARTBEAT:
      return { none: 'heartbeat' }
    case BEHAVIOUR:
      return behaviour(rest)
    case BEACONS:
      return { ...beacon(rest), reply: [reply, reply.subarray(0, HEAD - 8)] }
    default: {
      const fixes = placesIn(rest)
      return fixes.length > 0 ? { fixes } : { none: NONE.get(type) }
    }
  }
}

function position(packet: Buffer, layout: Layout, isAlarm: boolean): Message {
  const content = new ByteReader(packet, HEAD)
  const flags = content.at(layout.flags).u8()
  const alarm = content.at(layout.alarm).u8()
  const says = saidIn(packet.subarray(HEAD), layout, isAlarm ? alarm : 0)
  const place = (flags & FIX) === 0 ? undefined : placeAt(content.at(layout.position))
  if (!place) {
    const others = layout === RADIO_TRACKER && (flags & BY_RADIOS) !== 0 ? 'wifi' : 'cells'
    return { none: (flags & FIX) === 0 ? others : 'no fix', said: says }
  }
  const speed = layout.speed === undefined ? undefined : decimals(packet, HEAD + layout.speed, 2)
  if (speed !== undefined) place.speed = kmh(speed / 10)
  place.satellites = layout.satellites === undefined ? flags & SATELLITES : content.at(layout.satellites).u8()
  place.said = says
  return { fixes: [place] }
}

const placeAt = (r: ByteReader) => placeOf(r.part(DATE), r)

function saidIn(content: Buffer, layout: Layout, alarm: number): Said | undefined {
  const { inputs, volts, external, state: at } = layout
  const percent = decimals(content, layout.battery, 1)
  const battery_percent = percent === 0 ? 100 : percent
  if (inputs === undefined) {
    const state = at === undefined || content.length < at + 2 ? undefined : content.readUInt16BE(at)
    return said({
      ignition: state === undefined ? undefined : (state & NEW_IGNITION) !== 0,
      charging: state === undefined ? undefined : (state & (BY_USB | BY_SUN)) !== 0,
      battery_voltage: volts === undefined ? undefined : divided(decimals(content, volts, 1), 10),
      battery_percent,
    })
  }
  return said({
    ignition: (content.readUInt16BE(inputs) & IGNITION) !== 0,
    external_voltage: external === undefined ? undefined : divided(decimals(content, external, 2), 100),
    battery_voltage: volts === undefined ? undefined : divided(decimals(content, volts, 2), 100),
    battery_percent,
    alarms: alarmsOf(ALARMS[alarm]),
  })
}

/** The number that some bytes of packed decimals are; undefined if they are none, or behind the end. */
function decimals(bytes: Buffer, at: number, width: number): number | undefined {
  if (at + width > bytes.length) return undefined
  let value = 0
  for (let i = at; i < at + width; i++) {
    const [tens, ones] = [bytes[i] >> 4, bytes[i] & 15]
    if (tens > 9 || ones > 9) return undefined
    value = value * 100 + tens * 10 + ones
  }
  return value
}

const divided = (value: number | undefined, parts: number) => (value === undefined ? undefined : value / parts)

/** The answer with the code of the alarm, if the packet is long enough to have one. */
function withAlarm(reply: Buffer, packet: Buffer, layout: Layout): Buffer {
  const at = HEAD + layout.alarm
  return at < packet.length ? coded(reply, packet[at]) : reply
}

const [BUTTON, TAG] = [0x0002, 0x0003]
const TAG_LENGTH = 34
/** The alert of a button or tag whose own battery is low. */
const LOW_BATTERY = 1

/** A button or a tag comes with the place where it was pressed or read. */
function beacon(content: Buffer): Message {
  const r = new ByteReader(content)
  const kind = content.length === TAG_LENGTH ? r.at(7).u16() : 0
  if (kind !== TAG && kind !== BUTTON) return { none: 'beacons' }
  const isPressed = kind === BUTTON && r.at(16).u8() !== LOW_BATTERY
  const says = said(kind === TAG ? { driver: r.at(9).hex(6) } : { alarms: isPressed ? ['sos'] : [] })
  const flags = r.at(17).u8()
  if ((flags & FIX) === 0) return { none: 'beacons', said: says }
  const place = placeOf(r.at(0).part(DATE), r.at(18))
  return place ? { fixes: [{ ...place, satellites: flags & SATELLITES, said: says }] } : { none: 'no fix', said: says }
}

/** Places some seconds before and after something happened. */
function behaviour(content: Buffer): Message {
  const fixes = placesIn(content)
  return fixes.length > 0 ? { fixes } : { none: 'no fix' }
}
