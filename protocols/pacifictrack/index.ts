/*
 * Pacific Track PT40, J1939 and OBD loggers: no specification is known: inferred from frames. Big-endian, UDP.
 *
 *   FB KK L… (id, length, value)…        L, id, length  seven bits a byte, the highest bit set in the last one
 *
 *   id 000, 100  IMEI, packed decimals, filled up
 *   id 010       F YM DD hh mm ss AAAAAAAA OOOOOOOO GGGVVV …
 *
 *   id 020       UUUBBB               power from outside, battery, 0.01 V: twelve bits each
 *
 *   F  its high half: a fix                             A, O  latitude + 90, longitude + 180, 1e-6 degrees
 *   Y, M  last digit of the year, month: four bits each     G  heading     V  speed, 0.1 km/h: twelve bits each
 *
 * Nothing is answered. What F says is of one frame.
 */
import {
  ByteReader,
  DecodeError,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
  readableFixes,
  type Session,
  said,
  splitBits,
  utc,
} from '../kit/index.ts'

export default {
  name: 'pacifictrack',
  devices: 'Pacific Track PT40',
  udp: { port: 5198 },
  decode,
} satisfies Protocol

const START = 0xfb
const IMEIS = new Set([0x000, 0x100])
const POSITION = 0x010
const POWER = 0x020

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  if (r.u8() !== START) throw new DecodeError('unsupported', 'the frame does not begin with FB')
  const content = new ByteReader(r.skip(1).slice(number(r)))
  let device: string | undefined
  const positions: ByteReader[] = []
  let power: readonly number[] = []
  while (content.left > 0) {
    const id = number(content)
    const value = new ByteReader(content.slice(number(content)))
    if (IMEIS.has(id)) device = value.bcd(8).slice(0, 15)
    else if (id === POSITION) positions.push(value)
    else if (id === POWER) power = splitBits(value.u24(), 12, 12)
  }
  const beside = said({ external_voltage: power[0] / 100, battery_voltage: power[1] / 100 })
  const read = (value: ByteReader) => ({ ...position(value, session.now), said: beside })
  return enveloped({ device }, () => readableFixes(positions, read, { none: 'no place', said: beside }))
}

function number(r: ByteReader): number {
  for (let value = 0; value < 2 ** 21; ) {
    const byte = r.u8()
    value = value * 128 + (byte & 0x7f)
    if (byte >= 0x80) return value
  }
  throw new DecodeError('malformed', 'a number of more than four bytes')
}

function position(r: ByteReader, now: number): Fix {
  const valid = r.u8() >> 4 > 0
  const [digit, month] = splitBits(r.u8(), 4, 4)
  const year = new Date(now).getUTCFullYear()
  const [day, hour, minute, second] = [r.u8(), r.u8(), r.u8(), r.u8()]
  const time = utc(digit + Math.round((year - digit) / 10) * 10, month, day, hour, minute, second)
  const latitude = r.u32() / 1e6 - 90
  const longitude = r.u32() / 1e6 - 180
  const [course, speed] = splitBits(r.u24(), 12, 12)
  return { time, latitude, longitude, valid, heading: heading(course), speed: kmh(speed / 10) }
}
