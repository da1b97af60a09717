import { ByteReader } from './bytes.ts'
import { crc8Egts, verified } from './checksum.ts'
import { enveloped, readableFixes } from './errors.ts'
import { lengthField } from './framing.ts'
import type { Fix, Message, Session } from './protocol.ts'
import { type Said, said } from './said.ts'
import { dop, heading, kmh } from './units.ts'

/*
 * Binary frames of newer Queclink models (GL601 …): "GL601 @Track Air Interface Protocol", V10 (qdc.queclinksz.com). Big-endian.
 *
 *   KK 00 LLLL F [x{2}] IIIIIIIIIIIIIIII x{5} N x{N} record… x{2} C 24       2B 10 LL IIIIIIIIIIIIIIII x{11} C 24   heartbeat
 *   record   l UUUUUUUU x{2} R E (D n data)…           the highest bit of the first byte of l, D, n: it has two bytes
 *
 *   K  2B, 2D      L  length of all     F  bit 7: part of several, x{2} is there      I  0 and the IMEI     N  reserved bytes
 *   l  length of the record, itself included     U  unix seconds     R, E  kind of record, event
 *   C  CRC-8 (31, FF) of all before it: inferred, as are 52 and 61 of the data:
 *
 *   D = 51    x OOOOOOOO AAAAAAAA UUUUUUUU SSSS                   O, A  longitude, latitude, 1e-6 degrees    S  0.1 km/h
 *       52    x OOOOOOOO AAAAAAAA UUUUUUUU SSSS P GGGG HHHHHH Z   P  HDOP, 0.1   G  degrees   H  0.1 m   Z  satellites
 *       61    x VVVV BB x                                         V  own battery, mV     B  its charge, %
 *       8090  x K N M, N + M places like 51 or 52 ("GV500CNA", V3)  K  2 in its bits 6–4: like 51, 3: like 52
 *
 * 51 and 52 without a fix hold the last one with its time, or have a length of 0.
 * The server may be set up to answer; how is not known.
 */
export const queclinkFrames = [
  {
    when: ['+\0', '-\0'],
    frame: lengthField({ start: ['+\0', '-\0'], at: 2, width: 2, add: 0, end: '$', most: 2048 }),
  },
  { when: '+\x10', frame: lengthField({ start: '+\x10', at: 2, width: 1, add: 0, end: '$' }) },
].map((each) => ({ ...each, decode }))

const HEARTBEAT = 0x10
const PART = 0x80
const LONG = 0x80
const [PLACE, FULL_PLACE, BATTERY] = [0x51, 0x52, 0x61]
const BATTERY_LENGTH = 4
/** The positions of an accident. */
const CRASH = 0x90
/** Bytes of a position, by its kind. */
const SIZES = new Map([
  [2, 15],
  [3, 22],
])
/** Data without a place: names and numbers of the device, cells, temperatures. */
const OTHERS = new Set([0x02, 0x04, 0x13, 0x16, 0x55, 0x58, 0x5a, BATTERY, 0x7a])

/** @throws DecodeError */
function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc8Egts, from: 0, width: 1, trailing: 1 }, session)).skip(1)
  if (r.u8() === HEARTBEAT) return { device: imei(r.skip(1)), none: 'heartbeat' }
  if (r.skip(2).u8() & PART) r.skip(2)
  const device = imei(r)
  return enveloped({ device }, () => {
    const content = r.skip(5)
    return recordsIn(content.skip(content.u8()))
  })
}

const imei = (r: ByteReader) => r.bcd(8).replace(/^0/, '')

/** Up to the number of the frame. */
function recordsIn(r: ByteReader): Message {
  const places: Place[] = []
  let unplaced: Said | undefined
  let isKnown = true
  while (r.left > 2) {
    const [at, length] = [r.position, short(r)]
    const content = r.part(at + length - r.position).skip(8)
    const record = { places: [] as ByteReader[], says: undefined as Said | undefined }
    while (content.left > 0) {
      const id = short(content)
      const data = content.part(short(content))
      if (id === CRASH) record.places.push(...crashPlaces(data))
      else if (id === PLACE || id === FULL_PLACE) record.places.push(...(data.left > 0 ? [data] : []))
      else if (id === BATTERY && data.left >= BATTERY_LENGTH) record.says = batteryIn(data)
      isKnown &&= id === PLACE || id === FULL_PLACE || OTHERS.has(id)
    }
    places.push(...record.places.map((data) => ({ data, says: record.says })))
    if (record.places.length === 0) unplaced = record.says
  }
  return readableFixes(places, fixOf, { none: isKnown ? 'no place' : undefined, said: unplaced })
}

interface Place {
  readonly data: ByteReader
  /** What its record says besides. */
  readonly says: Said | undefined
}

/** The positions before or after an accident; none of an unknown kind. */
function crashPlaces(r: ByteReader): readonly ByteReader[] {
  const size = r.left < 4 ? undefined : SIZES.get((r.skip(1).u8() >> 4) & 7)
  if (size === undefined) return []
  const places: ByteReader[] = []
  for (let count = r.u8() + r.u8(); count > 0 && r.left >= size; count--) places.push(r.part(size))
  return places
}

/** A number of one byte, or of two if its highest bit is set. */
function short(r: ByteReader): number {
  return r.peek() & LONG ? r.u16() & 0x7fff : r.u8()
}

function batteryIn(r: ByteReader): Said | undefined {
  return said({ battery_voltage: r.skip(1).u16() / 1000, battery_percent: r.u8() })
}

function fixOf({ data: r, says }: Place): Fix {
  const longitude = r.skip(1).i32() / 1e6
  const latitude = r.i32() / 1e6
  const fix: Fix = { time: r.u32() * 1000, latitude, longitude, valid: true, speed: kmh(r.u16() / 10), said: says }
  if (r.left === 0) return fix
  return { ...fix, hdop: dop(r.u8() / 10), heading: heading(r.u16()), altitude: r.i24() / 10, satellites: r.u8() }
}
