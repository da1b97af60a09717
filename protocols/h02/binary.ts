import {
  ByteReader,
  DecodeError,
  degreesMinutes,
  type Fix,
  heading,
  knots,
  type Message,
  type Session,
  utcDmy,
} from '../kit/index.ts'
import { idLengthOf } from './frame.ts'
import { confirmation } from './reply.ts'

const X = 0x58
const EAST = 8
const NORTH = 4
const VALID = 2

/** A frame that begins with `$` or `X`. */
export function decodeBinary(frame: Buffer, session: Session): Message {
  const idLength = idLengthOf(frame)
  if (idLength === 0)
    throw new DecodeError(frame.length < 32 ? 'truncated' : 'malformed', 'no time where one has to be')
  const r = new ByteReader(frame)
  const marker = r.u8()
  const id = r.hex(idLength).slice(0, idLength === 8 ? 15 : 10)
  const fix = fixOf(r)
  // An X frame was seen to repeat the position of the $ frame before it, under another number.
  const device = marker === X && session.device !== undefined ? session.device : id
  return fix ? { device, fixes: [fix], reply: confirmation(device, session.now) } : { device }
}

/** undefined where the clock was never set. */
function fixOf(r: ByteReader): Fix | undefined {
  const time = r.hex(3)
  const date = r.hex(3)
  const latitude = degreesMinutes(+r.bcd(4) / 1e4)
  const longitude = r.skip(1).hex(5)
  const speedAndCourse = r.bcd(3)
  const flags = Number.parseInt(longitude[9], 16)
  if (date === '000000') return undefined
  return {
    time: utcDmy(date, time),
    latitude: flags & NORTH ? latitude : -latitude,
    longitude: degreesMinutes(decimal(longitude.slice(0, 9)) / 1e4) * (flags & EAST ? 1 : -1),
    valid: (flags & VALID) !== 0,
    speed: knots(+speedAndCourse.slice(0, 3)),
    heading: heading(+speedAndCourse.slice(3)),
  }
}

function decimal(digits: string): number {
  if (!/^\d+$/.test(digits)) throw new DecodeError('malformed', `"${digits}" is not packed decimals`)
  return +digits
}
