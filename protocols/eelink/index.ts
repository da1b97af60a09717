/*
 * Eelink TK115, TK116, TK119, TK319, GOT08, GPT06 …: "GPS Vehicle Tracker Communication Protocol" and "Eelink Protocol V2.0"
 * (eelinktech.com). Big-endian.
 *
 *   6767 TT LLLL SSSS body…                                TCP
 *   454C LLLL xxxx IIIIIIIIIIIIIIII packet…                UDP: one or more packets
 *
 *   T  type      L  length from behind it on      S  serial number      I  IMEI, packed decimals      x  checksum
 *
 *   01  I …                                                login: answer 6767 01 0009 S, unix seconds, 0001 00
 *   02 04–06  tttttttt AAAAAAAA OOOOOOOO VV GGGG cell9 F   position; behind it of 02 [SSSS BBBB], of 04 and 05 x [tttttttt SSSS]
 *   12 14 15 16  tttttttt M [AAAAAAAA OOOOOOOO HHHH VVVV GGGG NN] cells, WiFi, [x] SSSS [BBBB …]
 *   03  SSSS                                               heartbeat
 *   80  xxxxxxxx text                                      answer to a command, which may be a position
 *   others, where they begin like 12                       position
 *   All but 02: answer 6767 TT 0002 S
 *
 *   t  unix seconds         A, O  latitude, longitude, degrees × 1,800,000      H  altitude, m     F  bit 0: fixed
 *   M  bit 0: GPS follows, 1: a cell of 11 bytes, 2–6: each 7 bytes of cells and WiFi     V  speed, km/h    G  heading
 *   S  state; bit 0: fixed, otherwise the place is the last one; others: see stateOf      N  satellites     B  battery, mV
 *   x  of 04 and 14: which alarm
 *
 * How the checksum of a datagram is computed is not public: it is not checked.
 */
import {
  type Alarm,
  alarmsOf,
  ByteReader,
  ByteWriter,
  DecodeError,
  dialects,
  eachReadable,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  repliesOf,
  type Said,
  type Session,
  said,
  utc,
} from '../kit/index.ts'

const PACKET = Buffer.of(0x67, 0x67)
const spoken = dialects([
  { when: PACKET, frame: lengthField({ start: PACKET, at: 3, width: 2, add: 5 }), decode: packet },
  { when: 'EL', frame: lengthField({ start: 'EL', at: 2, width: 2, add: 4 }), decode: datagram },
])

export default {
  name: 'eelink',
  devices: 'Eelink TK115, TK116, TK119, TK319, GOT08, GPT06, GPT12, K18 …',
  acknowledges: 'some',
  integrity: { none: 'TCP has none; how that of a datagram is computed is not public' },
  tcp: { port: 5064, frame: spoken.frame },
  udp: { port: 5064, frame: spoken.frame },
  decode: spoken.decode,
} satisfies Protocol

const LOGIN = 0x01
const GPS = 0x02
const TEXT = 0x80
const [HEARTBEAT, ALARM, MESSAGE, STATUS, NEW_ALARM] = [0x03, 0x04, 0x06, 0x12, 0x14]
/** Bytes from the start to the serial number. */
const HEAD = 7
/** By the code of types 04 and 14. */
const ALARMS: Readonly<Record<number, Alarm>> = {
  0x01: 'power_cut',
  0x02: 'sos',
  0x03: 'low_battery',
  0x04: 'vibration',
  0x05: 'movement',
  0x08: 'gps_antenna_cut',
  0x25: 'tampering',
  0x85: 'accident',
}
const OLD_POSITIONS = new Set([GPS, 0x04, 0x05, 0x06])
const POSITIONS = new Set([0x12, 0x14, 0x15, 0x16])
const NONE = new Map([
  [LOGIN, 'login'],
  [0x03, 'heartbeat'],
  [0x07, 'OBD'],
  [0x08, 'time'],
  [0x17, 'OBD'],
  [0x18, 'OBD'],
  [0x19, 'status'],
  [0x1a, 'health'],
  [0x1b, 'settings'],
  [0x81, 'command answer'],
])

function packet(frame: Buffer, session: Session): Message {
  return enveloped({ reply: replyTo(frame, session) }, () => content(new ByteReader(frame)))
}

/** All but GPS are answered. */
function replyTo(frame: Buffer, { now }: Session): Buffer | undefined {
  if (frame.length < HEAD) throw new DecodeError('truncated')
  return frame[2] === GPS ? undefined : answer(frame[2], frame.readUInt16BE(5), now)
}

/** @throws DecodeError where it holds no packet, or none that can be read. */
function datagram(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  const device = deviceOf(r.skip(6))
  const packets: Buffer[] = []
  while (r.left >= HEAD && r.ahead().u16() === 0x6767) packets.push(r.slice(Math.min(r.ahead(3).u16() + 5, r.left)))
  if (packets.length === 0) throw new DecodeError('truncated')
  const reply = packets.flatMap((each) => repliesOf(replyTo(each, session)))
  return enveloped({ device, reply }, () => several(packets))
}

/** What packets say: the fixes of all; without any, that one of them is not known, or what the first says. */
function several(packets: readonly Buffer[]): Message {
  const { good, unreadable } = eachReadable(packets, (each) => content(new ByteReader(each)))
  const fixes = good.flatMap((each) => each.fixes ?? [])
  if (fixes.length > 0) return { fixes, unreadable }
  const strange = good.find((each) => each.none === undefined)
  const told = good.find((each) => each.said !== undefined)?.said
  const others = { said: told, unreadable }
  return strange ? { fixes: strange.fixes, ...others } : { none: good[0].none, ...others }
}

function deviceOf(r: ByteReader): string {
  return r.bcd(8).replace(/^0/, '')
}

function content(r: ByteReader): Message {
  const type = r.skip(2).u8()
  r.skip(4)
  if (type === LOGIN) return { device: deviceOf(r), none: 'login' }
  if (OLD_POSITIONS.has(type)) return { fixes: [oldPosition(r, type)] }
  if (POSITIONS.has(type)) return position(r, type)
  if (type === TEXT) {
    const fix = textPosition(r.skip(4).ascii(Math.min(r.left, MAX_TEXT)))
    return fix ? { fixes: [fix] } : { none: 'command answer' }
  }
  const none = NONE.get(type)
  if (none !== undefined) return { none, said: type === HEARTBEAT && r.left >= 2 ? said(stateOf(r.u16())) : undefined }
  return isPosition(r) ? position(r, type) : {}
}

/** Whether a type that is not known begins like the positions do: a time of our days, a mask with GPS, a place on Earth. */
function isPosition(r: ByteReader): boolean {
  if (r.left < 20) return false
  const head = r.ahead()
  const [time, mask, latitude, longitude] = [head.u32(), head.u8(), head.i32(), head.i32()]
  const isOnEarth = Math.abs(latitude) <= 90 * 1.8e6 && Math.abs(longitude) <= 180 * 1.8e6
  return time > EARLIEST && time < LATEST && (mask & 1) === 1 && isOnEarth
}

const EARLIEST = Date.UTC(2010, 0, 1) / 1000
const LATEST = Date.UTC(2060, 0, 1) / 1000

/** Bytes of a cell. */
const CELL = 9

function oldPosition(r: ByteReader, type: number): Fix {
  const time = r.u32() * 1000
  const latitude = r.i32() / 1.8e6
  const longitude = r.i32() / 1.8e6
  const speed = kmh(r.u8())
  const direction = heading(r.u16())
  // Some devices send neither cells nor flags.
  const hasCell = r.left >= CELL + 1
  const valid = !hasCell || (r.skip(CELL).u8() & 1) !== 0
  const told = hasCell ? said(behind(r, type)) : undefined
  return { time, latitude, longitude, valid, speed, heading: direction, said: told }
}

/** What stands behind an older position: the state, of 04 and 05 behind a code and a time. */
function behind(r: ByteReader, type: number): Said {
  if (type === GPS) return r.left < 4 ? {} : { ...stateOf(r.u16()), battery_voltage: r.u16() / 1000 }
  if (type === MESSAGE || r.left < 1) return {}
  const alarms = alarmsOf(type === ALARM && ALARMS[r.u8()])
  if (type !== ALARM) r.skip(1)
  return { ...(r.left < 6 ? {} : stateOf(r.skip(4).u16())), alarms }
}

/** Bytes between the cells and the state, by the types that are known to have one. */
const STATES = new Map([
  [0x12, 0],
  [0x14, 1],
  [0x15, 1],
])

/** No place: the packet has cells or WiFi alone. */
function position(r: ByteReader, type: number): Message {
  const time = r.u32() * 1000
  const mask = r.u8()
  const place =
    (mask & 1) === 0
      ? undefined
      : {
          latitude: r.i32() / 1.8e6,
          longitude: r.i32() / 1.8e6,
          altitude: r.i16(),
          speed: kmh(r.u16()),
          heading: heading(r.u16()),
          satellites: r.u8(),
        }
  const { isFixed, told } = atEnd(r, type, mask)
  return place ? { fixes: [{ time, ...place, valid: isFixed, said: told }] } : { none: 'no place', said: told }
}

/** What the state behind the cells says; fixed without one, and where what bit 7 of the mask adds stands in between. */
function atEnd(r: ByteReader, type: number, mask: number): { isFixed: boolean; told?: Said } {
  const before = STATES.get(type)
  if (before === undefined || mask & 0x80) return { isFixed: true }
  const others = [0x04, 0x08, 0x10, 0x20, 0x40].filter((bit) => mask & bit).length
  const offset = (mask & 2 ? 11 : 0) + 7 * others
  if (r.left < offset + before + 2) return { isFixed: true }
  r.skip(offset)
  const code = before > 0 ? r.u8() : undefined
  const state = r.u16()
  const battery_voltage = type === STATUS && r.left >= 2 ? r.u16() / 1000 : undefined
  const alarms = alarmsOf(type === NEW_ALARM && ALARMS[code ?? 0])
  return { isFixed: (state & 1) !== 0, told: said({ ...stateOf(state), battery_voltage, alarms }) }
}

/** Bits of the state: 1: it has a wire of the ignition, 2: on; 3: it has an accelerometer, 9: moving; 7: it can be charged, 8: is. */
function stateOf(state: number): Said {
  return {
    ignition: state & 0x02 ? (state & 0x04) !== 0 : undefined,
    moving: state & 0x08 ? (state & 0x200) !== 0 : undefined,
    charging: state & 0x80 ? (state & 0x100) !== 0 : undefined,
  }
}

const MAX_TEXT = 512

/** `Lat:N31.83955,Lon:W82.61346,Course:0.00,Speed:0.00km/h,DateTime:2017-12-02 11:29:43` */
function textPosition(text: string): Fix | undefined {
  const latitude = /Lat: ?([NS])(\d+\.\d+)/.exec(text)
  const longitude = /Lon: ?([EW])(\d+\.\d+)/.exec(text)
  const date = /Time: ?(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)/.exec(text)
  if (!latitude || !longitude || !date) return undefined
  const [year, month, day, hour, minute, second] = date.slice(1).map(Number)
  const course = /Course: ?(\d+\.?\d*)/.exec(text)
  const speed = /Speed: ?(\d+\.?\d*)/.exec(text)
  return {
    time: utc(year, month, day, hour, minute, second),
    latitude: Number(latitude[2]) * (latitude[1] === 'S' ? -1 : 1),
    longitude: Number(longitude[2]) * (longitude[1] === 'W' ? -1 : 1),
    valid: true,
    speed: speed ? kmh(Number(speed[1])) : undefined,
    heading: heading(course ? Number(course[1]) : undefined),
  }
}

function answer(type: number, serial: number, now: number): Buffer {
  const w = new ByteWriter().bytes(PACKET).u8(type)
  if (type !== LOGIN) return w.u16(2).u16(serial).toBuffer()
  return w
    .u16(9)
    .u16(serial)
    .u32(Math.floor(now / 1000))
    .u16(1)
    .u8(0)
    .toBuffer()
}
