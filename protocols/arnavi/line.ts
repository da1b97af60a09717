import {
  DecodeError,
  degreesMinutes,
  type Fix,
  heading,
  knots,
  type Message,
  number,
  type Session,
  TextReader,
  trimEnd,
  utcDmy,
  verify,
  xor,
} from '../kit/index.ts'

/** What a line of the older devices says. */
export function line(frame: Buffer, session: Session): Message {
  const text = trimEnd(frame).toString('latin1')
  const star = text.lastIndexOf('*')
  const checksum = Number.parseInt(text.slice(star + 1), 16)
  verify(star > 0 && xor(frame.subarray(1, star)) === checksum, session)
  const r = new TextReader(text.slice(1, star > 0 ? star : undefined), ',')
  if (r.next() !== 'AV') throw new DecodeError('unsupported', 'it does not begin with $AV')
  const type = r.next()
  const device = r.next()
  if (!/^\w+$/.test(device)) throw new DecodeError('malformed', 'there is no id')
  if (type === 'V3D' || type === 'V6SD') return { device, none: 'status' }
  return type === 'V4' ? { device, fixes: [position(r)] } : { device }
}

function position(r: TextReader): Fix {
  const valid = r.skip(11).next() === '1'
  const satellites = r.optionalNumber()
  const altitude = r.optionalNumber()
  const clock = r.skip().next()
  const latitude = angle(r.next())
  const longitude = angle(r.next())
  const speed = knots(r.number())
  const course = heading(r.number())
  return { time: utcDmy(r.next(), clock), latitude, longitude, valid, altitude, speed, heading: course, satellites }
}

/** Degrees from ddmm.mmmm and a letter of the compass. */
function angle(text: string): number {
  const degrees = degreesMinutes(number(text.slice(0, -1)))
  return 'SW'.includes(text.at(-1) ?? '') ? -degrees : degrees
}
