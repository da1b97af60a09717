/*
 * GS100: no specification is known, inferred from frames. Packed decimals. TCP, no checksum.
 *
 *   47 4C 49 n I{n} n … n …                  "GLI": login of three texts with their lengths; answer "GS100"
 *   47 44 c (n x{3} T P)…                    "GD": c records of n bytes; answer "GS100" c
 *   T  hhmmss DDMMYY
 *   P  dddmmmmmmF ddmmmmmm SSSSSCCC          longitude with flags, latitude: 1e-4 minutes; speed, 0.01 km/h; course, degrees
 *   F  C in all frames, which show only the north-east with a fix: which bits say so is not known
 */
import {
  ByteReader,
  DecodeError,
  dialects,
  digitsDegreesMinutes,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  optionalNumber,
  packedNumber,
  type Protocol,
  readableFixes,
  utcDmy,
} from '../kit/index.ts'

const { frame, decode } = dialects([
  { when: 'GLI', frame: (bytes) => lengthOf(bytes, 3, 3), decode: login },
  {
    when: 'GD',
    frame: (bytes) => (bytes.length < 3 ? 0 : lengthOf(bytes, 3, bytes[2])),
    decode: positions,
  },
])

export default {
  name: 'gs100',
  devices: 'GS100',
  acknowledges: 'fixes',
  tcp: { port: 5223, frame },
  decode,
} satisfies Protocol

const ANSWER = Buffer.from('GS100')

/** Where the last of so many parts ends, each of which begins with its length; 0: it is not all here. */
function lengthOf(bytes: Buffer, from: number, parts: number): number {
  let at = from
  for (let i = 0; i < parts; i++) {
    if (at >= bytes.length) return 0
    at += 1 + bytes[at]
  }
  return at <= bytes.length ? at : 0
}

function login(bytes: Buffer): Message {
  const r = new ByteReader(bytes).skip(3)
  const device = r.ascii(r.u8())
  if (!/^\d+$/.test(device)) throw new DecodeError('malformed', 'the login has no id')
  return { device, none: 'login', reply: ANSWER }
}

function positions(bytes: Buffer): Message {
  const r = new ByteReader(bytes).skip(2)
  const count = r.u8()
  return enveloped({ reply: Buffer.concat([ANSWER, Buffer.of(count)]) }, () => {
    const records = Array.from({ length: count }, () => r.part(r.u8()))
    return readableFixes(records, fixOf, { none: 'no place' })
  })
}

function fixOf(r: ByteReader): Fix {
  const time = r.skip(3).hex(3)
  const date = r.hex(3)
  const digits = r.hex(5)
  const longitude = digitsDegreesMinutes(digits.slice(0, 9), 3)
  const latitude = digitsDegreesMinutes(r.hex(4), 2)
  const motion = r.hex(4)
  return {
    time: utcDmy(date, time),
    latitude,
    longitude,
    valid: true,
    speed: optionalNumber(packedNumber(motion.slice(0, 5)), (hundredths) => kmh(hundredths / 100)),
    heading: heading(packedNumber(motion.slice(5))),
  }
}
