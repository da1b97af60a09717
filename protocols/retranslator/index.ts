/*
 * Wialon Retranslator (Gurtam: "Wialon Retranslator" 1.0): what Wialon forwards of its units. TCP; no checksum.
 *
 *   LLLLLLLL id 00 TTTTTTTT FFFFFFFF block…                answer: 11
 *   block    0BBB SSSSSSSS h t name 00 value
 *   value of the name "posinfo", t = 2:  OOOOOOOOOOOOOOOO AAAAAAAAAAAAAAAA HHHHHHHHHHHHHHHH VVVV CCCC n
 *
 *   L  length behind it, little-endian      S  length of the block behind it      O, A, H  longitude, latitude, metres:
 *   T  unix seconds                         h  hidden                                      little-endian doubles
 *   F  flags, bit 4: alarm                  t  1 text, 2 binary, 3 int, 4 double, 5 long      V  km/h  C  degrees  n  satellites
 *
 * Blocks that are read besides: ign, pwr_ext and pwr_int (V), avl_driver.
 */
import {
  ByteReader,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  type Said,
  said,
} from '../kit/index.ts'

export default {
  name: 'retranslator',
  devices: 'units of Wialon, forwarded by its retranslator',
  acknowledges: 'fixes',
  tcp: { port: 5167, frame: lengthField({ at: 0, width: 4, endian: 'little', add: 4 }) },
  decode,
} satisfies Protocol

const BLOCK = 0x0bbb
/** Bytes in front of the name. */
const BLOCK_HEAD = 2
const [TEXT, BINARY, INT, DOUBLE, LONG] = [1, 2, 3, 4, 5]
const ALARM = 0x10
/** The first letters of the names that are read. */
const INITIALS = new Set(Buffer.from('pia'))
const ACK = Buffer.from([0x11])

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame).skip(4)
  const device = r.asciiUntil(0)
  return enveloped({ device, reply: ACK }, () => {
    const time = r.u32() * 1000
    const values: Said = { alarms: (r.u32() & ALARM) === 0 ? undefined : ['sos'] }
    let fix: Fix | undefined
    while (r.left >= 6 && r.u16() === BLOCK) {
      const length = r.u32()
      // A position is not lost for a damaged block behind it.
      if (fix && (length < BLOCK_HEAD || r.left < length)) break
      const block = r.part(length)
      const type = block.skip(1).u8()
      // Most blocks are others: their names are not read.
      if (!INITIALS.has(block.peek())) continue
      const name = block.asciiUntil(0)
      if (name === 'posinfo' && type === BINARY) fix = positionOf(block, time)
      else if (name === 'ign') values.ignition = isOne(numberOf(type, block))
      else if (name === 'pwr_ext') values.external_voltage = numberOf(type, block)
      else if (name === 'pwr_int') values.battery_voltage = numberOf(type, block)
      else if (name === 'avl_driver' && type === TEXT) values.driver = block.asciiUntil(0)
    }
    const besides = said(values)
    return fix ? { fixes: [{ ...fix, said: besides }] } : { none: 'no place', said: besides }
  })
}

/** The number that a block holds; undefined of another type, and of a block that is too short. */
function numberOf(type: number, r: ByteReader): number | undefined {
  if (type === INT) return r.left >= 4 ? r.u32() : undefined
  if (r.left < 8) return undefined
  if (type === DOUBLE) return r.f64le()
  return type === LONG ? r.skip(4).u32() : undefined
}

const isOne = (value: number | undefined) => (value === undefined ? undefined : value === 1)

function positionOf(r: ByteReader, time: number): Fix {
  const longitude = r.f64le()
  const latitude = r.f64le()
  const altitude = r.f64le()
  const speed = kmh(r.u16())
  const course = heading(r.u16())
  const satellites = r.u8()
  return { time, latitude, longitude, valid: true, altitude, speed, heading: course, satellites }
}
