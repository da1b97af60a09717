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
  const fields = text.slice(1, star > 0 ? star : undefined).split(',')
  const [name, type, device = ''] = fields
  if (name !== 'AV') throw new DecodeError('unsupported', 'the frame does not begin with $AV')
  if (!/^\w+$/.test(device)) throw new DecodeError('malformed', 'there is no id')
  if (type === 'V3D' || type === 'V6SD') return { device, none: 'status' }
  const at = fields.findIndex((field, i) => LATITUDE.test(field) && LONGITUDE.test(fields[i + 1] ?? ''))
  return at < 0 ? { device } : { device, fixes: [position(fields, at, type === 'V4')] }
}

const LATITUDE = /^\d{4}\.\d+[NS]$/
const LONGITUDE = /^\d{5}\.\d+[EW]$/

/** The position whose latitude is the field at an index: how many fields stand in front of it differs by type. */
function position(fields: readonly string[], at: number, hasAltitude: boolean): Fix {
  const r = new TextReader(fields.slice(at - (hasAltitude ? 5 : 3)).join(','), ',')
  const valid = r.next() === '1'
  const satellites = r.optionalNumber()
  const altitude = hasAltitude ? r.optionalNumber() : undefined
  const clock = r.skip(hasAltitude ? 1 : 0).next()
  const latitude = angle(r.next())
  const longitude = angle(r.next())
  const speed = r.optionalNumber()
  const course = heading(r.optionalNumber())
  const time = utcDmy(r.next(), clock)
  return { time, latitude, longitude, valid, altitude, speed: speed && knots(speed), heading: course, satellites }
}

/** Degrees from ddmm.mmmm and a letter of the compass. */
function angle(text: string): number {
  const degrees = degreesMinutes(number(text.slice(0, -1)))
  return 'SW'.includes(text.at(-1) ?? '') ? -degrees : degrees
}
