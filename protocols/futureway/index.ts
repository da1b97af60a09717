/*
 * Futureway FWS03 and other badges. No specification is known: inferred from frames. Text in a frame with a length:
 *
 *   41 LLLLLLLL TTT content XX 42
 *
 *   L  hexadecimal digits: characters of content     T  200: the login, A00: a report
 *   X  XOR of everything before it, hexadecimal digits
 *
 *   200  0020,IMEI:I,battery level:…,…
 *   A00  004, then lines, each 'name:value': IMEI:I   GPS:v,yymmddhhmmss,AAAA.AAAAAAN,OOOOO.OOOOOOE,S,C
 *             WIFI:…   LBS:…   battery level:b
 *
 *   v  A: a fix     A, O  ddmm.mmmmmm, dddmm.mmmmmm     S  speed, km/h (a guess)     C  heading     b  %
 *
 * Nothing is answered.
 */
import {
  DecodeError,
  degreesMinutes,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  type Session,
  said,
  trimEnd,
  utcYmd,
  verify,
  xor,
} from '../kit/index.ts'

export default {
  name: 'futureway',
  devices: 'Futureway FWS03 and other badges',
  integrity: { checksum: 'XOR', covers: [0, -4] },
  tcp: { port: 5213, frame: lengthField({ start: '41', at: 2, width: 8, digits: 16, add: 17 }) },
  decode,
} satisfies Protocol

function decode(frame: Buffer, session: Session): Message {
  const text = frame.toString('latin1')
  if (!/^41[0-9A-Fa-f]{8}/.test(text))
    throw new DecodeError('unsupported', 'the frame does not begin with 41 and a length')
  const end = /([0-9A-Fa-f]{2})42$/.exec(trimEnd(frame).toString('latin1'))
  verify(end !== null && Number.parseInt(end[1], 16) === xor(frame.subarray(0, end.index)), session)
  const type = text.slice(10, 13)
  const device = /IMEI:(\d{15})/.exec(text)?.[1]
  const besides = said({ battery_percent: optionalNumber(/battery level:(\d+)/.exec(text)?.[1]) })
  if (type === '200') return { device, none: 'login', said: besides }
  if (type !== 'A00') return { device, said: besides }
  const gps = /GPS:([^\r\n]*)/.exec(text)?.[1]
  if (!gps) return { device, none: 'no place', said: besides }
  return enveloped({ device }, () => ({ fixes: [{ ...position(gps), said: besides }] }))
}

function position(gps: string): Fix {
  const [valid, time, latitude, longitude, speed, course] = gps.split(',')
  if (course === undefined) throw new DecodeError('truncated')
  return {
    time: utcYmd(time),
    latitude: angle(latitude),
    longitude: angle(longitude),
    valid: valid === 'A',
    speed: optionalNumber(speed, kmh),
    heading: heading(optionalNumber(course)),
  }
}

/** Degrees of ddmm.mmmm and a letter. */
function angle(text: string): number {
  const degrees = degreesMinutes(number(text.slice(0, -1)))
  return /[SW]$/.test(text) ? -degrees : degrees
}
