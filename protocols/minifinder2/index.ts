/*
 * Eview EV-07B, EV-07S, EV-04 and MiniFinder Pico, Nano, Atto: "EV-07B communication protocol", "Eview Personal Alarm
 * Communication Protocol" V20231227 (flags of 28, 2A and 2C). Little-endian. TCP.
 *
 *   AB PP LLLL CCCC SSSS TT (n k value)…
 *
 *   P  bit 4: an answer is wanted    C  CRC-16/XMODEM from T on     T  01 data, 02 configuration, 03 services, 7F answer
 *   L  from T on                     S  sequence number             n  length of k and value
 *
 *   k  01  IMEI, text                20  position: latitude, longitude (1e-7°), speed (u16, km/h), course (u16, degrees),
 *      24  unix seconds, status b        altitude (i16, m), HDOP (u16, 0.1), mileage{4}, satellites
 *      02  alarm a{4}[, unix seconds]  23  a known beacon: MAC{6}, latitude, longitude, name
 *      28, 2A, 2C  a known network or beacon: f, MAC{6}, x{2, 1, 3}[, latitude, longitude][, name]; f bit 7: a place follows
 *      others: cells, networks, sensors
 *
 *   b  bit 4: is charged, 9: moves, 31–24: battery, %    a  bits: 0 low battery, 8 is switched off, 10 moves, 12 SOS
 *
 * Each 24 begins a record; its position comes before the place of a beacon, and of beacons the first counts. Answer: AB 00 0300 CCCC SSSS 7F 01 00.
 */
import {
  type Alarm,
  alarmsIn,
  ByteReader,
  ByteWriter,
  crc16Xmodem,
  DecodeError,
  dop,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  type Said,
  type Session,
  said,
  tlv,
  verify,
} from '../kit/index.ts'

export default {
  name: 'minifinder2',
  devices: 'Eview EV-07B, EV-07S, EV-04, MiniFinder Pico, Nano, Atto',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/XMODEM', covers: (frame) => [8, frame.length] },
  tcp: { port: 5187, frame: lengthField({ start: 0xab, at: 2, width: 2, endian: 'little', add: 8, most: 4096 }) },
  decode,
} satisfies Protocol

const WANTS_ANSWER = 0x10
const DATA = 0x01
const NONE = new Map([
  [0x02, 'configuration'],
  [0x03, 'services'],
  [0x7f, 'command answer'],
])
const IMEI = 0x01
const ALARM = 0x02
const POSITION = 0x20
const STATUS = 0x24
/** Bytes in front of the place of a known network or beacon. All but 23 begin with flags. */
const PLACES = new Map([
  [0x23, 6],
  [0x28, 9],
  [0x2a, 8],
  [0x2c, 10],
])
const HAS_PLACE = 0x80

function decode(frame: Buffer, session: Session): Message {
  if (frame.length < 9) throw new DecodeError('truncated')
  const body = frame.subarray(8)
  verify(frame.readUInt16LE(4) === crc16Xmodem(body), session)
  const type = body[0]
  const reply = frame[1] & WANTS_ANSWER && type !== 0x7f ? answer(frame.readUInt16LE(6)) : undefined
  if (type !== DATA) return { none: NONE.get(type), reply }
  return enveloped({ reply }, () => data(new ByteReader(body).skip(1), session.now))
}

function data(r: ByteReader, now: number): Message {
  const fixes: Fix[] = []
  let device: string | undefined
  let time: number | undefined
  let record: Said = {}
  /** Where the fixes of the record begin, and whether they are one, of a beacon. */
  let first = 0
  let isOfBeacon = false
  const endRecord = () => {
    isOfBeacon = false
    if (first === fixes.length) return
    const says = said(record)
    for (; first < fixes.length; first++) fixes[first].said = says
  }
  for (const { tag, value } of tlv(r, { tag: 1, length: 1, order: 'length, tag', counted: 1 })) {
    switch (tag) {
      case IMEI:
        device = value.ascii(value.left)
        break
      case STATUS:
        endRecord()
        time = value.u32le() * 1000
        record = value.left < 4 ? {} : stateOf(value.u32le())
        break
      case ALARM:
        record.alarms = alarmsIn(value.u32le(), ALARMS)
        if (value.left >= 4) time ??= value.u32le() * 1000
        break
      case POSITION:
        if (isOfBeacon) fixes.pop()
        isOfBeacon = false
        fixes.push(positionOf(value, time ?? now))
        break
      default: {
        const before = PLACES.get(tag)
        if (before === undefined || first < fixes.length || !(tag === 0x23 || value.peek() & HAS_PLACE)) break
        fixes.push(placeOf(value.skip(before), time ?? now))
        isOfBeacon = true
      }
    }
  }
  endRecord()
  return fixes.length > 0 ? { device, fixes } : { device, none: 'no place', said: said(record) }
}

const [CHARGED, MOVES] = [0x10, 0x200]

function stateOf(bits: number): Said {
  return { charging: (bits & CHARGED) !== 0, moving: (bits & MOVES) !== 0, battery_percent: bits >>> 24 }
}

/** By the bits of an alarm; speed, falls, fences and buttons have no name here. */
const ALARMS: (Alarm | undefined)[] = []
ALARMS[0] = 'low_battery'
ALARMS[8] = 'power_off'
ALARMS[10] = 'movement'
ALARMS[12] = 'sos'

function positionOf(r: ByteReader, time: number): Fix {
  return {
    time,
    latitude: r.i32le() / 1e7,
    longitude: r.i32le() / 1e7,
    valid: true,
    speed: kmh(r.u16le()),
    heading: heading(r.u16le()),
    altitude: r.i16le(),
    hdop: dop(r.u16le() / 10),
    satellites: r.skip(4).u8(),
  }
}

function placeOf(r: ByteReader, time: number): Fix {
  return { time, latitude: r.i32le() / 1e7, longitude: r.i32le() / 1e7, valid: true }
}

function answer(sequence: number): Buffer {
  const content = Buffer.of(0x7f, 0x01, 0x00)
  return new ByteWriter().hex('ab000300').u16le(crc16Xmodem(content)).u16le(sequence).bytes(content).toBuffer()
}
