import {
  DecodeError,
  degreesMinutes,
  type Fix,
  heading,
  knots,
  type Message,
  number,
  type Session,
  utcDmy,
} from '../kit/index.ts'

const COMMA = 0x2c
const POINT = 0x2e
const ZERO = 0x30
const HASH = 0x23
const MINUS = 0x2d
const [NORTH, SOUTH, EAST, WEST, INVALID] = Buffer.from('NSEWV')

/** A frame with more fields is a text message; the fields beyond are not read. */
const MAX_FIELDS = 64

/** Decodes a frame `*HQ,…#`. */
export function decodeText(frame: Buffer, session: Session): Message {
  const end = frame.lastIndexOf(HASH)
  if (end < 0) throw new DecodeError('truncated')
  const fields = new Fields(frame.toString('latin1', 0, end))
  const device = fields.text(1)
  if (device === '') throw new DecodeError('malformed', 'the id is missing')
  const type = fields.text(2)
  const fix = fixOf(fields, type, session)
  return { device, fixes: fix && [fix], reply: replyTo(type, device, fix, session) }
}

/** Positions other than VP1 are confirmed; of the other types, heartbeats and cells. */
function replyTo(type: string, device: string, fix: Fix | undefined, { now }: Session): Buffer | undefined {
  if (type === 'HTBT') return replyOf(device, type)
  if (type === 'NBR') return replyOf(device, `V4,NBR,${clock(now)}`)
  if (!fix || type === 'VP1') return undefined
  return type === 'V1' ? replyOf(device, `V4,V1,${clock(now)}`) : confirmation(device, now)
}

/** The position, found by its hemispheres: the fields before it depend on the type. Undefined where there is none. */
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

/** Index of the field N or S that has E or W two fields behind it; 0 where there is none. */
function hemisphere(fields: Fields): number {
  for (let field = 5; field + 2 < fields.count; field++) {
    const letter = fields.letter(field)
    if (letter !== NORTH && letter !== SOUTH) continue
    const other = fields.letter(field + 2)
    if (other === EAST || other === WEST) return field
  }
  return 0
}

/** Degrees, without their sign, of dddmm.mmmm, of dddmmmmmm, or of -ddd-mm.mmmm. */
function angle(fields: Fields, field: number): number | undefined {
  if (fields.first(field) === MINUS) {
    const [, degrees, minutes] = /^-(\d+)-(\d+\.\d+)$/.exec(fields.text(field)) ?? []
    if (minutes === undefined) throw new DecodeError('malformed', `"${fields.text(field)}" is not an angle`)
    return +degrees + +minutes / 60
  }
  const value = fields.decimal(field)
  if (value === undefined) return undefined
  const isPointless = Number.isInteger(value) && fields.length(field) >= 8 && !fields.text(field).includes('.')
  return degreesMinutes(isPointless ? value / 1e4 : value)
}

/** ms UTC; undefined where the device's clock was never set. */
function timeOf(fields: Fields, north: number, type: string, { now }: Session): number | undefined {
  // Some devices have one more field between course and date.
  const date = fields.length(north + 5) === 6 ? fields.text(north + 5) : fields.text(north + 6)
  // V19 reports the SIM card when the tracker registers; its position has the time of arrival.
  if (date.length !== 6 || type === 'V19') return now
  if (date === '000000') return undefined
  const time = type === 'VP1' ? '' : fields.text(north - 3)
  if (time !== '') return utcDmy(date, time)
  // A position of today that has only a date gets the time of arrival.
  const midnight = utcDmy(date, '000000')
  return now >= midnight && now < midnight + 86_400_000 ? now : midnight
}

/** A reply with these words. It begins with *HQ, also where the device's own frames begin with *TH. */
function replyOf(id: string, words: string): Buffer {
  return Buffer.from(`*HQ,${id},${words}#`, 'latin1')
}

/** Confirms a position of another type than V1. `now`: ms UTC. */
export function confirmation(id: string, now: number): Buffer {
  return replyOf(id, `R12,${clock(now).slice(8)}`)
}

/** YYYYMMDDhhmmss of an instant, ms UTC. */
function clock(now: number): string {
  const second = Math.floor(now / 1000)
  if (second !== last.second)
    last = { second, text: new Date(second * 1000).toISOString().replace(/\D/g, '').slice(0, 14) }
  return last.text
}

/** Kept because thousands of frames arrive within one second. */
let last = { second: Number.NaN, text: '' }

/** The comma-separated fields of a line, found once and read in place. */
class Fields {
  readonly #line: string
  /** Where each field begins, and where one more would. */
  readonly #starts: number[] = [0]

  constructor(line: string) {
    this.#line = line
    for (let at = 0; at < line.length && this.#starts.length < MAX_FIELDS; at++)
      if (line.charCodeAt(at) === COMMA) this.#starts.push(at + 1)
    this.#starts.push(line.length + 1)
  }

  get count(): number {
    return this.#starts.length - 1
  }

  /** Length of a field; 0 beyond the last. */
  length(field: number): number {
    return field < this.count ? this.#starts[field + 1] - 1 - this.#starts[field] : 0
  }

  /** Text of a field; '' beyond the last. */
  text(field: number): string {
    return field < this.count ? this.#line.slice(this.#starts[field], this.#starts[field + 1] - 1) : ''
  }

  /** The code of a field's only character; −1 where it has another length. */
  letter(field: number): number {
    return this.length(field) === 1 ? this.#line.charCodeAt(this.#starts[field]) : -1
  }

  /** The code of a field's first character; that of its separator where the field is empty. */
  first(field: number): number {
    return this.#line.charCodeAt(this.#starts[field])
  }

  /** A number without sign or exponent; undefined of an empty field. @throws DecodeError `malformed`. */
  decimal(field: number): number | undefined {
    const length = this.length(field)
    if (length === 0) return undefined
    if (length > 15) return number(this.text(field))
    const end = this.#starts[field] + length
    let value = 0
    let scale = 0
    for (let at = this.#starts[field]; at < end; at++) {
      const code = this.#line.charCodeAt(at)
      if (code >= ZERO && code <= ZERO + 9) {
        value = value * 10 + code - ZERO
        scale *= 10
      } else if (code === POINT && scale === 0) scale = 1
      else throw new DecodeError('malformed', `"${this.text(field)}" is not a number`)
    }
    return value / (scale || 1)
  }
}
