/*
 * Continental VDO trackers: no specification is known, inferred from frames. Big-endian. TCP, no answer.
 *
 *   5356 LLLL VV IIIIIIII xx TT UUUUUUUU yyyyyyyy oooooooo CCCC SSSS F UUUUUUUU xxxx NNNN xxxx B …
 *
 *   L  length of all     I  id     T  02: position     U  unix seconds     C  degrees     S  km/h     F  1: fix
 *   N  inputs, bit 0: ignition     B  the vehicle's battery, V
 *   y, o  1/3,600 degrees in 24 bits, or 1/360,000 degrees in 28 bits: the finer ones where the coarse ones would be no place
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
  name: 'continental',
  devices: 'Continental VDO',
  tcp: { port: 5161, frame: lengthField({ start: 'SV', at: 2, width: 2, add: 0, most: 2048 }) },
  decode,
} satisfies Protocol

const POSITION = 0x02

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const device = String(r.skip(5).u32())
  if (r.skip(1).u8() !== POSITION) return { device }
  return enveloped({ device }, () => ({ fixes: [fixOf(r)] }))
}

function fixOf(r: ByteReader): Fix {
  const time = r.u32() * 1000
  const [y, x] = [r.u32(), r.u32()]
  const isFine = y >> 24 !== 0 || x >> 24 !== 0 || Math.abs(coarse(y)) > 90 || Math.abs(coarse(x)) > 180
  const [latitude, longitude] = isFine ? [fine(y), fine(x)] : [coarse(y), coarse(x)]
  const course = heading(r.u16())
  return { time, latitude, longitude, speed: kmh(r.u16()), heading: course, valid: r.u8() === 1, said: saidIn(r) }
}

function saidIn(r: ByteReader): Said | undefined {
  if (r.left < 11) return undefined
  const ignition = (r.skip(6).u16() & 1) !== 0
  return said({ ignition, external_voltage: r.skip(2).u8() })
}

function coarse(bits: number): number {
  return ((bits << 8) >> 8) / 3600
}

function fine(bits: number): number {
  return ((bits << 4) >> 4) / 360_000
}
