import {
  DecodeError,
  degreesMinutes,
  enveloped,
  type Fix,
  heading,
  knots,
  type Message,
  number,
  optionalNumber,
  type Said,
  type Session,
  said,
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
  // The manual's own line of V2 has blanks in front of its numbers.
  const fields = text.slice(1, star > 0 ? star : undefined).split(/, */)
  const [name, type, device = ''] = fields
  if (name !== 'AV') throw new DecodeError('unsupported', 'the frame does not begin with $AV')
  if (!/^\w+$/.test(device)) throw new DecodeError('malformed', 'there is no id')
  if (type === 'V3D' || type === 'V6SD') return { device, none: 'status' }
  const at = fields.findIndex((field, i) => LATITUDE.test(field) && LONGITUDE.test(fields[i + 1] ?? ''))
  return enveloped({ device }, () => (at < 0 ? {} : { fixes: [position(fields, at, type === 'V4')] }))
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
  const place = { latitude: angle(r.next()), longitude: angle(r.next()), speed: optionalNumber(r.next(), knots) }
  const course = heading(r.optionalNumber())
  const time = utcDmy(r.next(), clock)
  return {
    time,
    ...place,
    valid,
    altitude,
    heading: course,
    satellites,
    said: at < STATES ? undefined : saidOf(fields),
  }
}

/** The fields in front of a place where voltages and ignition stand among them. */
const STATES = 12

function saidOf(fields: readonly string[]): Said | undefined {
  return said({
    external_voltage: optionalNumber(fields[4], (value) => value / 100),
    battery_voltage: optionalNumber(fields[5], (value) => value / 100),
    ignition: /^[01]$/.test(fields[8]) ? fields[8] === '1' : undefined,
  })
}

/** Degrees from ddmm.mmmm and a letter of the compass. */
function angle(text: string): number {
  const degrees = degreesMinutes(number(text.slice(0, -1)))
  return 'SW'.includes(text.at(-1) ?? '') ? -degrees : degrees
}
