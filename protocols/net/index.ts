/*
 * Netvox-like trackers that begin with @L. No specification is known: inferred from frames. A line that ends with !:
 *
 *   @L TT ? IIIIIIIIIIIIIII NN DDMMYY hhmmss AAAAAAAA n OOOOOOOO e ???????? SSSS ?????? GGG …
 *
 *   T  03: a position     A, O  0ddmm.mmm, dddmm.mmm, the point left out     S  speed, 1/100 knot, hexadecimal
 *   I  IMEI               n, e  1: north, east (that 0 is south, west is a guess)     G  heading, hexadecimal
 *
 * Nothing is answered.
 */
import {
  between,
  DecodeError,
  digitsDegreesMinutes,
  heading,
  knots,
  type Message,
  type Protocol,
  utcDmy,
} from '../kit/index.ts'

export default {
  name: 'net',
  devices: 'trackers that begin with @L',
  tcp: { port: 5215, frame: between('@L', '!') },
  decode,
} satisfies Protocol

const POSITION =
  /^@L03.(\d{15})..(\d{6})(\d{6})(\d{8})([01])(\d{8})([01])[0-9A-F]{8}([0-9A-F]{4})[0-9A-F]{6}([0-9A-F]{3})/i

const ID = /^@L...(\d{15})/

function decode(frame: Buffer): Message {
  const text = frame.toString('latin1')
  if (!text.startsWith('@L')) throw new DecodeError('unsupported', 'the frame does not begin with @L')
  const [, device, date, time, latitude, north, longitude, east, speed, course] = POSITION.exec(text) ?? []
  if (device === undefined) return { device: ID.exec(text)?.[1], fixes: text.startsWith('@L03') ? [] : undefined }
  const fix = {
    time: utcDmy(date, time),
    latitude: digitsDegreesMinutes(latitude, 3) * (north === '1' ? 1 : -1),
    longitude: digitsDegreesMinutes(longitude, 3) * (east === '1' ? 1 : -1),
    valid: true,
    speed: knots(Number.parseInt(speed, 16) / 100),
    heading: heading(Number.parseInt(course, 16)),
  }
  return { device, fixes: [fix] }
}
