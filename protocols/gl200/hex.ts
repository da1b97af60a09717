/*
 * The @Track protocol in binary ("HEX" in the manuals), of GV and GB models. Big-endian.
 *
 *   +RSP TT MMMMMMMM LLLL DD VVVV FFFF IIIIIIIIIIIIIIII … A SSSS s GGGG HHHH OOOOOOOO YYYYYYYY YYYYMMDDhhmmss … KKKK CCCC 0D0A
 *   +EVT events, +CRD crash data in the same way; +BSP, +BVT, +BRD: the same, sent later
 *   +INF TT MMMM [LLLL] … status, +BNF sent later     M, bit 0: L is there, 1: I is a name (GV200, §4.4); I follows, or D, V, F
 *                                                        and I (it has its check digit, or is a name)
 *   +ACK TT MM LL …, +LGN TT MM LLLL …
 *   +HBD MM LL [D] [VV] [FF] [I] …          M, bits 1, 2, 3 and 7: D, V, F and I are there, 4: I is a name (GV200, §4.6)
 *
 *   T  type of report               I  IMEI, one byte 0–99 for two digits, the  A  HDOP; 0: the last known place
 *   M  which fields it has             last for one; a name, where bit 6 of M   S  km/h, s its tenths    G  heading
 *   L  length of the frame             is set                                   H  altitude, m    K  count
 *   D, V, F  model, versions        O, Y  longitude, latitude, 1e-6 degrees     C  CRC-16/CCITT-FALSE, T to K
 *
 * With the bits 1FBF of M, the charge of the battery (%, one byte) and the external power (mV, two) follow I, as frames show.
 * What stands between them and a place differs by type, model and mask. A place is found by its last part: coordinates and a date
 * of the calendar. No answer is known. Reports of type 100, inferred from one frame, have a place for each of many seconds:
 * their number in two bytes, the first one, and what is added for each of the others, in bits from the highest on:
 *
 *   011 S{12} G{9} O{32} Y{32} U{32}     101 S{7} G{7} O{12} Y{11}     111 x{5}: no place     S  0.1 km/h
 *
 * Frames of newer models (GL601) are others: the kit has them.
 */
import {
  BitReader,
  ByteReader,
  crc16CcittFalse,
  DecodeError,
  dop,
  EndSearch,
  enveloped,
  type Fix,
  heading,
  imeiOf14,
  kmh,
  lengthField,
  type Mark,
  type Message,
  type Session,
  type Stream,
  said,
  utc,
  verified,
} from '../kit/index.ts'

const STATUS = ['+INF', '+BNF']
/** Bytes of a status up to its length. */
const STATUS_HEAD = 9
const byLength = lengthField({ start: STATUS, at: 7, width: 2, add: 0, end: '\r\n' })
const laterEnd = new EndSearch('\r\n')

/** What frames begin with, and where their length is: at which byte, how many of them. */
export const hexFrames = [
  framed(['+RSP', '+EVT', '+CRD', '+BSP', '+BVT', '+BRD'], 9, 2),
  { when: STATUS, frame: statusLength, decode: decodeHex },
  framed(['+ACK'], 6, 1),
  framed(['+LGN'], 6, 2),
  framed(['+HBD'], 5, 1),
]

function framed(when: readonly Mark[], at: number, width: number) {
  return { when, frame: lengthField({ start: when, at, width, add: 0, end: '\r\n' }), decode: decodeHex }
}

/** A status without a length goes on to its end. */
function statusLength(bytes: Buffer, stream: Stream): number {
  if (bytes.length < STATUS_HEAD) return 0
  return bytes[STATUS_HEAD - 3] & HAS_LENGTH ? byLength(bytes, stream) : laterEnd.after(bytes, STATUS_HEAD, stream)
}

/** What the checksum of a frame covers: nothing of text. */
export function hexCovers(frame: Buffer): readonly [from: number, to: number] {
  if (frame.toString('latin1', 4, 6).includes(':')) return [0, 0]
  return frame[1] <= 0x10 ? [0, -2] : [4, -4]
}

const HEARTBEAT = 'heartbeat'
/** Frames without a place, and why they have none. */
const NONE = new Map([
  ['+ACK', 'command answer'],
  ['+HBD', HEARTBEAT],
  ['+INF', 'status'],
  ['+BNF', 'status'],
  ['+LGN', 'login'],
])
const COMPRESSED = 100
/** Bytes of an id. */
const ID = 8
/** Bit of M. */
const NAMED = 0x40
/** Bits of M that reports have which begin, behind I, with the battery in % and the external power in mV. */
const SAYING = 0x1fbf
const SAYING_LENGTH = 3
/** Bytes from A to H, from O to the date, and from the date of sending to the end. */
const [MOTION, PLACE, TAIL] = [8, 15, 13]

/** Bits of the mask of a status. */
const [HAS_LENGTH, HAS_NAME] = [0x01, 0x02]
/** Bytes of model and versions, which some models have in front of the id of a status. */
const VERSIONS = 5
const NAME = /^[\w?-]+\0*$/
/** Bits of the mask of a heartbeat. */
const [HAS_MODEL, HAS_VERSION, HAS_FIRMWARE, IS_NAME, HAS_ID] = [0x02, 0x04, 0x08, 0x10, 0x80]

/** @throws DecodeError */
function decodeHex(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  verified(frame, { sum: crc16CcittFalse, from: 4, width: 2, trailing: 2 }, session)
  const none = NONE.get(r.ascii(4))
  if (none === HEARTBEAT) return { device: deviceOfHeartbeat(r), none }
  if (none === 'status') return { device: deviceOfStatus(r.skip(1)), none }
  if (none !== undefined) return { none }
  const type = r.u8()
  const mask = r.u32()
  const device = deviceOf(r.skip(7).slice(ID), (mask & NAMED) !== 0)
  return enveloped({ device }, () => {
    const fixes = (type === COMPRESSED ? compressedPlaces : places)(frame.subarray(r.position, -TAIL))
    const isSaying = (mask & SAYING) === SAYING && frame.length - r.position >= SAYING_LENGTH + TAIL
    const says = isSaying ? said({ battery_percent: r.u8(), external_voltage: r.u16() / 1000 }) : undefined
    if (says && fixes.length > 0) fixes[fixes.length - 1].said = says
    return { fixes, said: fixes.length > 0 ? undefined : says }
  })
}

/** Undefined where no id is found. */
function deviceOfStatus(r: ByteReader): string | undefined {
  const mask = r.u16()
  const content = r.skip(mask & HAS_LENGTH ? 2 : 0).slice()
  const isName = (mask & HAS_NAME) !== 0
  const at = [0, VERSIONS].find((from) => isId(content.subarray(from, from + ID), isName))
  return at === undefined ? undefined : deviceOf(content.subarray(at, at + ID), isName)
}

function isId(bytes: Buffer, isName: boolean): boolean {
  if (bytes.length < ID) return false
  if (isName) return NAME.test(bytes.toString('latin1'))
  if (bytes.some((byte) => byte > 99)) return false
  const digits = deviceOf(bytes, false)
  return digits.length === 15 && imeiOf14(digits.slice(0, 14)) === digits
}

/** Undefined without an id, and where the model has other fields. */
function deviceOfHeartbeat(r: ByteReader): string | undefined {
  const mask = r.u8()
  r.skip(1 + (mask & HAS_MODEL ? 1 : 0) + (mask & HAS_VERSION ? 2 : 0) + (mask & HAS_FIRMWARE ? 2 : 0))
  if ((mask & HAS_ID) === 0 || r.left < ID) return undefined
  const id = r.slice(ID)
  const isName = (mask & IS_NAME) !== 0
  return isName || id.every((byte) => byte <= 99) ? deviceOf(id, isName) : undefined
}

function deviceOf(id: Buffer, isNamed: boolean): string {
  if (isNamed) return id.toString('latin1').replace(/\0+$/, '')
  if (id.some((byte) => byte > 99)) throw new DecodeError('malformed', 'the id is not decimals')
  return Array.from(id, (byte, i) => String(byte).padStart(i < 7 ? 2 : 1, '0')).join('')
}

function places(bytes: Buffer): Fix[] {
  const fixes: Fix[] = []
  for (let at = 0; at + MOTION + PLACE <= bytes.length; at++) {
    const fix = placeAt(new ByteReader(bytes, at))
    if (!fix) continue
    fixes.push(fix)
    at += PLACE - 1
  }
  return fixes
}

/** Undefined where what follows is no motion, coordinates and a date. */
function placeAt(r: ByteReader): Fix | undefined {
  const date = r.ahead(MOTION + 8)
  const year = date.u16()
  if (year < 2000 || year > 2099) return undefined
  const [month, day, hour, minute, second] = date.slice(5)
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return undefined
  const hdop = dop(r.u8())
  const speed = kmh(r.u16() + r.u8() / 10)
  const [direction, altitude] = [heading(r.u16()), r.i16()]
  const [longitude, latitude] = [r.i32() / 1e6, r.i32() / 1e6]
  if (Math.abs(longitude) > 180 || Math.abs(latitude) > 90) return undefined
  const time = utc(year, month, day, hour, minute, second)
  return { time, latitude, longitude, valid: true, altitude, speed, heading: direction, hdop }
}

const [FIRST, NEXT, WITHOUT_PLACE] = [0b011, 0b101, 0b111]
/** Bytes of a first second, and of the number of seconds. */
const [FIRST_LENGTH, COUNT] = [15, 2]
const EARLIEST = Date.UTC(2010, 0, 1) / 1000

/** The places of a report of type 100. The first one is searched for: by the mask, fields of unknown length precede it. */
function compressedPlaces(bytes: Buffer): Fix[] {
  for (let at = COUNT; at + FIRST_LENGTH <= bytes.length; at++) {
    const count = bytes.readUInt16BE(at - COUNT)
    if (bytes[at] >> 5 !== FIRST || count > bytes.length - at) continue
    const [longitude, latitude] = [bytes.readInt32BE(at + 3), bytes.readInt32BE(at + 7)]
    const isOnEarth = Math.abs(longitude) <= 180e6 && Math.abs(latitude) <= 90e6
    if (isOnEarth && bytes.readUInt32BE(at + 11) >= EARLIEST)
      return placesFrom(new BitReader(bytes.subarray(at)), count)
  }
  return []
}

/** How many bits the differences take that are added to speed, course, longitude and latitude. */
const ADDED = [7, 7, 12, 11]

function placesFrom(bits: BitReader, count: number): Fix[] {
  const fixes: Fix[] = []
  let second: readonly number[] = [0, 0, 0, 0]
  let time = 0
  for (let left = count; left > 0; left--) {
    const kind = bits.u(3)
    if (kind === FIRST) {
      second = [bits.u(12), bits.u(9), bits.i(32), bits.i(32)]
      time = bits.u(32)
    } else time++
    if (kind === NEXT) second = second.map((value, i) => value + bits.i(ADDED[i]))
    if (kind === WITHOUT_PLACE) bits.skip(5)
    else if (kind === FIRST || kind === NEXT) fixes.push(fixOf(second, time))
    else return []
  }
  return fixes
}

/** The fix of a second as it is counted: 0.1 km/h, degrees, 1e-6 degrees, unix seconds. */
function fixOf([speed, course, longitude, latitude]: readonly number[], time: number): Fix {
  return {
    time: time * 1000,
    latitude: latitude / 1e6,
    longitude: longitude / 1e6,
    valid: true,
    speed: kmh(speed / 10),
    heading: heading((course + 360) % 360),
  }
}
