/*
 * WLI trackers. No specification is known: inferred from frames. TCP, big-endian.
 *
 *   02 32 "wli:" id 03                                    login
 *   02 31 NNNN xx xxxxxxxx 00 (tag 00 value 00)… 03       report; a value is text, or FF LLLL and L bytes
 *   value of the tag F6   text: x,x,external voltage,battery,… in 0.01 V
 *   value of the tag 34   vv xx YYMMDDhhmmss AAAAAAAA OOOOOOOO SSSS CCCC xxxxxxxx xxxx HHHH
 *
 *   02 and 03 in between are DB D2 and DB D3
 *   v  2, 3: fix      A, O  1/600,000 degree      C  0.1 degrees      H  0.1 metres      S  a speed of an unknown unit
 *
 * Nothing is answered.
 */
import {
  ByteReader,
  bytesYmd,
  DecodeError,
  escaped,
  type Fix,
  heading,
  type Message,
  optionalNumber,
  type Protocol,
  readableFixes,
  type Said,
  said,
} from '../kit/index.ts'

const wire = escaped({
  flag: 0x02,
  end: 0x03,
  escape: 0xdb,
  codes: new Map([
    [0xd2, 0x02],
    [0xd3, 0x03],
  ]),
})

export default {
  name: 'wli',
  devices: 'WLI',
  escaping: { escape: wire.escape, codes: wire.codes },
  tcp: { port: 5209, frame: wire.frame },
  decode,
} satisfies Protocol

const REPORT = 0x31
const LOGIN = 0x32
const BINARY = 0xff
const POSITION = 0x34
const POWER = 0xf6
const PER_DEGREE = 600_000

function decode(frame: Buffer): Message {
  const r = new ByteReader(wire.content(frame))
  const kind = r.u8()
  if (kind === LOGIN) {
    const device = /^wli:([^:]{1,40})$/.exec(r.ascii(r.left))?.[1]
    if (device === undefined) throw new DecodeError('malformed', 'the login has no id')
    return { device, none: 'login' }
  }
  if (kind !== REPORT) return {}
  r.skip(8)
  const positions: Buffer[] = []
  let power: Said | undefined
  while (r.left >= 3) {
    const tag = r.u8()
    const value = valueOf(r.skip(1))
    if (tag === POSITION && typeof value === 'object') positions.push(value)
    if (tag === POWER && typeof value === 'string') power = powerOf(value)
  }
  const read = (value: Buffer) => ({ ...positionOf(new ByteReader(value)), said: power })
  return readableFixes(positions, read, { none: 'status', said: power })
}

const volts = (value: number) => value / 100

function powerOf(text: string): Said | undefined {
  const [external, battery] = text.split(',').slice(2)
  return said({ external_voltage: optionalNumber(external, volts), battery_voltage: optionalNumber(battery, volts) })
}

function valueOf(r: ByteReader): Buffer | string {
  if (r.peek() !== BINARY) return r.asciiUntil(0)
  const value = r.skip(1).slice(r.u16())
  if (r.left > 0) r.skip(1)
  return value
}

function positionOf(r: ByteReader): Fix {
  const valid = r.u8() >= 2
  const time = bytesYmd(r.skip(1))
  const latitude = r.i32() / PER_DEGREE
  const longitude = r.i32() / PER_DEGREE
  const course = heading(r.skip(2).u16() / 10)
  return { time, latitude, longitude, valid, altitude: r.skip(6).i16() / 10, heading: course }
}
