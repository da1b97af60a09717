/*
 * VNET. No specification is known: inferred from frames. TCP; numbers little-endian, times and angles in packed decimals.
 *
 *   2424 KKKK LLLL DDMMYYhhmmss content CCCC 2323
 *   content of 0000   IIIIIIIIIIIIIIIi …                       login; answer: the same frame
 *   content of 0033   AAAAAAAA OOOOOOOOOx ff nn … HH …         position
 *
 *   L  length of the content, without the last 8 bytes         A, O  ddmm.mmmm, dddmm.mmmm     n  satellites
 *   I  IMEI                                                    f  bits: 1 fix, 2 north, 4 east
 *
 * H, the sixth byte behind n, is the heading in 2 degrees. What the checksum covers is not known.
 */
import {
  ByteReader,
  digitsDegreesMinutes,
  enveloped,
  type Fix,
  heading,
  lengthField,
  type Message,
  type Protocol,
  utcDmy,
} from '../kit/index.ts'

export default {
  name: 'vnet',
  devices: 'VNET',
  integrity: { none: 'what the one in the frames covers is not known' },
  tcp: { port: 5205, frame: lengthField({ start: '$$', at: 4, width: 2, endian: 'little', add: 18, end: '##' }) },
  decode,
} satisfies Protocol

const LOGIN = 0x0000
const POSITION = 0x0033
const VALID = 1
const NORTH = 2
const EAST = 4

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame).skip(2)
  const kind = r.u16le()
  const date = r.skip(2).bcd(3)
  const time = r.bcd(3)
  if (kind === LOGIN) return { device: r.bcd(8).slice(0, 15), none: 'login', reply: frame }
  if (kind !== POSITION) return {}
  return enveloped({}, () => ({ fixes: [fixOf(r, date, time)] }))
}

function fixOf(r: ByteReader, date: string, time: string): Fix {
  const latitude = digitsDegreesMinutes(r.bcd(4), 2)
  const longitude = digitsDegreesMinutes(r.hex(5).slice(0, 9), 3)
  const flags = r.u8()
  const satellites = r.u8()
  return {
    time: utcDmy(date, time),
    latitude: flags & NORTH ? latitude : -latitude,
    longitude: flags & EAST ? longitude : -longitude,
    valid: (flags & VALID) !== 0,
    heading: heading(r.skip(5).u8() * 2),
    satellites,
  }
}
