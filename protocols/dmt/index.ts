/*
 * Digital Matter G60, G62, Dart, Dart2, Oyster, Yabby, Remora, Eagle: DM-Link (flespi.com/protocols/digital-matter); the
 * fields are inferred from frames; inputs: "Default I/O mappings" (support.digitalmatter.com). Little-endian.
 *
 *   02 55 TT LLLL content                    L  length of the content
 *
 *   00  SSSSSSSS imei 00 …                   hello; answer 01: seconds since 2013, 4 zeros (older devices, whose hello has 51
 *                                            bytes: 5 zeros)
 *   04  record…, each LLLL NNNNNNNN TTTTTTTT RR (id, length, value)…       L  of the whole record
 *   10  records of 64 bytes: PP NNNNNNNN BBBBBBBB OOOOOOOO AAAAAAAA VVVV G HHHH …
 *   05  asks whether the records are stored; answer 06: 01
 *
 *   14  …                                    answer 15: 12 zeros; older firmware goes on after it alone ("Device direct to 3rd
 *                                            party software", support.digitalmatter.com)
 *   22                                       answer 23, empty: assumed, as 01 follows 00 and 06 follows 05
 *
 *   value of id 00  TTTTTTTT AAAAAAAA OOOOOOOO HHHH VVVV E G D Q F
 *   value of id 02  iiiiiiii oooo ssss       i  inputs: bit 0 ignition     s  state: bit 4 charging
 *   value of id 06  of (number, VVVV)        analogue inputs: 1 battery, mV; 2 power from outside, 0.01 V
 *
 *   T  seconds since 2013                    H  altitude, m         Q  error, m                S  serial number
 *   A, O  latitude, longitude, 1e-7 degrees  V  speed, cm/s         F  bit 0: a fix            N  record number
 *   B  from the highest bit on: second (6), minute (6), hour (5),   G  heading, 2 degrees
 *      day (5), month (4), year of the century (6)                  E, D  error of the speed, PDOP
 *
 * The unit of V in a record of type 10 is assumed: all known ones have the speed 0. Where the length of a value is FF, its
 * real length follows, in 16 bits.
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  type Fix,
  heading,
  known,
  lengthField,
  type Message,
  type Protocol,
  readableFixes,
  type Said,
  said,
  secondsSince,
  splitBits,
  utc,
} from '../kit/index.ts'

export default {
  name: 'dmt',
  devices: 'Digital Matter G60, G62, Dart, Dart2, Oyster, Yabby, Remora, Eagle',
  acknowledges: 'fixes',
  tcp: { port: 5137, frame: lengthField({ start: '\x02\x55', at: 3, width: 2, endian: 'little', add: 5 }) },
  decode,
} satisfies Protocol

const HELLO = 0x00
const RECORDS = 0x04
const COMMIT = 0x05
const COMPACT_RECORDS = 0x10
const LENGTH_OF_OLD_HELLO = 51
const COMPACT_LENGTH = 64
const [UNNAMED, REQUEST] = [0x14, 0x22]
const [POSITION, DIGITAL, ANALOGUE] = [0, 2, 6]
const DIGITAL_LENGTH = 8
const CHARGING = 0x10
/** Analogue inputs. */
const [BATTERY, EXTERNAL] = [1, 2]
const LONG_VALUE = 0xff
const HAS_FIX = 1
const EPOCH = Date.UTC(2013, 0, 1)
const timeOf = secondsSince(2013)

function decode(frame: Buffer, { now }: { readonly now: number }): Message {
  const r = new ByteReader(frame)
  if (r.u16() !== 0x0255) throw new DecodeError('unsupported', 'the frame does not begin with 02 55')
  const type = r.u8()
  const content = new ByteReader(r.slice(r.u16le()))
  if (type === HELLO) return hello(content, now)
  if (type === RECORDS) return records(content)
  if (type === COMPACT_RECORDS) return compactRecords(content)
  if (type === REQUEST) return { none: 'status', reply: answer(0x23, new ByteWriter()) }
  if (type === COMMIT) return { none: 'heartbeat', reply: answer(0x06, new ByteWriter().u8(1)) }
  return { reply: type === UNNAMED ? answer(0x15, new ByteWriter().hex('00'.repeat(12))) : undefined }
}

function answer(type: number, content: ByteWriter): Buffer {
  return new ByteWriter().u16(0x0255).u8(type).u16le(content.length).bytes(content.toBuffer()).toBuffer()
}

function hello(r: ByteReader, now: number): Message {
  const isOld = r.left === LENGTH_OF_OLD_HELLO
  const device = r.skip(4).imei()
  const clock = Math.floor((now - EPOCH) / 1000)
  const content = isOld ? new ByteWriter().hex('0000000000') : new ByteWriter().u32le(clock).u32le(0)
  return { device, none: 'login', reply: answer(0x01, content) }
}

function records(r: ByteReader): Message {
  const entries: ByteReader[] = []
  while (r.left > 2) {
    const length = r.u16le()
    if (length < 2) throw new DecodeError('malformed', `a record of ${length} bytes`)
    entries.push(r.part(length - 2))
  }
  return readableFixes(entries, recordFix, { none: 'no place' })
}

function recordFix(r: ByteReader): Fix | undefined {
  r.skip(9)
  let fix: Fix | undefined
  const beside: Said = {}
  while (r.left >= 2) {
    const id = r.u8()
    const length = r.u8()
    const value = r.part(length === LONG_VALUE ? r.u16le() : length)
    if (id === POSITION) fix = position(value)
    if (id === DIGITAL && value.left >= DIGITAL_LENGTH) readDigital(value, beside)
    if (id === ANALOGUE) readAnalogue(value, beside)
  }
  if (fix) fix.said = said(beside)
  return fix
}

function readDigital(r: ByteReader, beside: Said): void {
  beside.ignition = (r.u32le() & 1) !== 0
  // Older devices leave the bit 0.
  if (r.skip(2).u16le() & CHARGING) beside.charging = true
}

function readAnalogue(r: ByteReader, beside: Said): void {
  while (r.left >= 3) {
    const input = r.u8()
    const value = r.u16le()
    if (input === BATTERY) beside.battery_voltage = value / 1000
    if (input === EXTERNAL) beside.external_voltage = value / 100
  }
}

function position(r: ByteReader): Fix {
  const time = timeOf(r.u32le())
  const latitude = r.i32le() / 1e7
  const longitude = r.i32le() / 1e7
  const altitude = r.i16le()
  const speed = r.u16le() / 100
  const course = heading(r.skip(1).u8() * 2)
  const accuracy = known(r.skip(1).u8())
  const valid = (r.u8() & HAS_FIX) !== 0
  return { time, latitude, longitude, valid, altitude, speed, heading: course, accuracy, said: undefined }
}

function compactRecords(r: ByteReader): Message {
  const entries: ByteReader[] = []
  while (r.left >= COMPACT_LENGTH) entries.push(r.part(COMPACT_LENGTH))
  return readableFixes(entries, compactFix, { none: 'no place' })
}

function compactFix(r: ByteReader): Fix {
  const [second, minute, hour, day, month, year] = splitBits(r.skip(5).u32le(), 6, 6, 5, 5, 4, 6)
  const longitude = r.i32le() / 1e7
  const latitude = r.i32le() / 1e7
  const speed = r.u16le() / 100
  const course = heading(r.u8() * 2)
  const altitude = r.i16le()
  return {
    time: utc(year, month, day, hour, minute, second),
    latitude,
    longitude,
    valid: true,
    speed,
    heading: course,
    altitude,
  }
}
