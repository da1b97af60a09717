import {
  DecodeError,
  degreesMinutes,
  type Fix,
  heading,
  knots,
  type Message,
  type Session,
  utcDmy,
} from '../kit/index.ts'
import { Fields } from './fields.ts'
import { clock, confirmation, replyOf } from './reply.ts'

const HASH = 0x23
const MINUS = 0x2d
const [NORTH, SOUTH, EAST, WEST, INVALID] = Buffer.from('NSEWV')

/** A frame `*HQ,…#`. */
export function decodeText(frame: Buffer, session: Session): Message {
  const end = frame.lastIndexOf(HASH)
  if (end < 0) throw new DecodeError('truncated')
  const fields = new Fields(frame.toString('latin1', 0, end))
  const device = fields.text(1)
  if (device === '') throw new DecodeError('malformed', 'it has no id')
  const type = fields.text(2)
  const fix = fixOf(fields, type, session)
  return { device, fixes: fix && [fix], reply: replyTo(type, device, fix, session) }
}

/** Positions are confirmed, but for VP1; of the rest, heartbeats and cells. */
function replyTo(type: string, device: string, fix: Fix | undefined, { now }: Session): Buffer | undefined {
  if (type === 'HTBT') return replyOf(device, type)
  if (type === 'NBR') return replyOf(device, `V4,NBR,${clock(now)}`)
  if (!fix || type === 'VP1') return undefined
  return type === 'V1' ? replyOf(device, `V4,V1,${clock(now)}`) : confirmation(device, now)
}

/** The position, found by its hemispheres, since what precedes it depends on the type; undefined where there is none. */
function fixOf(fields: Fields, type: string, session: Session): Fix | undefined {
  const north = hemisphere(fields)
  if (north === 0) return undefined
  const latitude = angle(fields, north - 1)
  const longitude = angle(fields, north + 1)
  const time = timeOf(fields, north, type, session)
  if (latitude === undefined || longitude === undefined || time === undefined) return undefined
  const speed = fields.decimal(north + 3)
  return {
    time,
    latitude: fields.letter(north) === NORTH ? latitude : -latitude,
    longitude: fields.letter(north + 2) === EAST ? longitude : -longitude,
    valid: fields.letter(north - 2) !== INVALID && fields.length(north - 2) > 0,
    speed: speed === undefined ? undefined : knots(speed),
    heading: heading(fields.decimal(north + 4)),
  }
}

/** The field N or S that is followed by one, and E or W; 0 where there is none. */
function hemisphere(fields: Fields): number {
  for (let field = 5; field + 2 < fields.count; field++) {
    const letter = fields.letter(field)
    if (letter !== NORTH && letter !== SOUTH) continue
    const other = fields.letter(field + 2)
    if (other === EAST || other === WEST) return field
  }
  return 0
}

/** Degrees of dddmm.mmmm, of the same without its point, or of -ddd-mm.mmmm, where the letter still says the sign. */
function angle(fields: Fields, field: number): number | undefined {
  if (fields.first(field) === MINUS) {
    const [, degrees, minutes] = /^-(\d+)-(\d+\.\d+)$/.exec(fields.text(field)) ?? []
    if (minutes === undefined) throw new DecodeError('malformed', `"${fields.text(field)}" is no angle`)
    return +degrees + +minutes / 60
  }
  const value = fields.decimal(field)
  if (value === undefined) return undefined
  const isPointless = Number.isInteger(value) && fields.length(field) >= 8 && !fields.text(field).includes('.')
  return degreesMinutes(isPointless ? value / 1e4 : value)
}

/** ms UTC; undefined where the clock was never set. */
function timeOf(fields: Fields, north: number, type: string, { now }: Session): number | undefined {
  // Some have a field more between course and date.
  const date = fields.length(north + 5) === 6 ? fields.text(north + 5) : fields.text(north + 6)
  // V19 tells the SIM card as the tracker registers, and counts as of its arrival.
  if (date.length !== 6 || type === 'V19') return now
  if (date === '000000') return undefined
  const time = type === 'VP1' ? '' : fields.text(north - 3)
  if (time !== '') return utcDmy(date, time)
  // Of a position that has a date alone today's is dated by its arrival.
  const midnight = utcDmy(date, '000000')
  return now >= midnight && now < midnight + 86_400_000 ? now : midnight
}
