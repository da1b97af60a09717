/*
 * H02: Sinotrack ST-901, ST-906, Huabao, LK109, LK209 and their clones. "TQ GPRS transport protocol" (SinoTrack), "GPS tracker
 * communication protocol" 1.0.5 (HuaSunTeK). TCP and UDP, no checksum. Text, or packed decimals in a frame of fixed length:
 *
 *   *HQ,I,V1,T,A,Y,N,O,E,S,C,[b,]D,F[,…]#        position; V2, V6, V8, V19 … alike
 *   *HQ,I,V4,command[,…],T,T,A,Y,N,O,E,S,C,D,F#  answer to a command; the second T is the position's
 *   *HQ,I,VP1,A,Y,N,O,E,S,C,D#                   position without a time of day
 *   *HQ,I,ALRM,a,T,A,Y,…#                        alarm: 1 SOS, 2 low battery, 3 geofence
 *   *HQ,I,BC,T,L,A,Y,N,O,E,S,C,ddT,F;A,Y,…#      positions of the past, without month and year
 *   *HQ,I,HTBT[,b]#   NBR (cells), LINK, V3, …   no position
 *
 *   24 IIIIIIIIII TTTTTT DDDDDD YYYYYYYY bb OOOOOOOOOh SSSCCC FFFFFFFF …   32 or 45 bytes, rarely between; I of 8 bytes: 42
 *
 *   I  id                     O  longitude, dddmm.mmmm      S  speed, knots        h  hemisphere bits: 8 east, 4 north,
 *   T  hhmmss                 N, E  hemispheres             C  course, degrees        2 valid
 *   D  DDMMYY                 A  A: valid, V: not           b  battery: its charge F  status: status.ts
 *   Y  latitude, ddmm.mmmm    Answer to V1: *HQ,I,V4,V1,YYYYMMDDhhmmss#, to other positions: *HQ,I,R12,hhmmss#
 */
import {
  ByteReader,
  DecodeError,
  degreesMinutes,
  enveloped,
  type Fix,
  heading,
  knots,
  type Message,
  optionalNumber,
  type Protocol,
  packedNumber,
  type Session,
  said,
  utcDmy,
} from '../kit/index.ts'
import { idLengthOf } from './framing.ts'
import { saidOf } from './status.ts'
import { confirmation, text } from './text.ts'

export default { ...text, decode } satisfies Protocol

const STAR = 0x2a
const HASH = 0x23
const DOLLAR = 0x24
const X = 0x58
const EAST = 8
const NORTH = 4
const VALID = 2
/** The highest level of a battery. */
const HIGHEST = 6

function decode(frame: Buffer, session: Session): Message {
  const marker = frame[0]
  if (marker === STAR && (session.lenient || frame.includes(HASH))) return text.decode(frame, session)
  if (marker === DOLLAR || marker === X) return decodeBinary(frame, session)
  throw new DecodeError(frame.length === 0 ? 'truncated' : 'unsupported')
}

/** Decodes a frame that begins with `$` or `X`. */
function decodeBinary(frame: Buffer, session: Session): Message {
  const idLength = idLengthOf(frame)
  if (idLength === 0)
    throw new DecodeError(frame.length < 32 ? 'truncated' : 'malformed', 'no time and date follow the id')
  const r = new ByteReader(frame)
  const marker = r.u8()
  const id = r.hex(idLength).slice(0, idLength === 8 ? 15 : 10)
  // X frames were seen that repeat the position of the $ frame before them under another id.
  const device = marker === X && session.device !== undefined ? session.device : id
  return enveloped({ device, reply: Buffer.from(confirmation(device, session.now)) }, () => {
    const fix = fixOf(r)
    return fix ? { fixes: [fix] } : { none: 'no date', reply: undefined }
  })
}

/** Undefined where the device's clock was never set. */
function fixOf(r: ByteReader): Fix | undefined {
  const time = r.hex(3)
  const date = r.hex(3)
  const latitude = degreesMinutes(+r.bcd(4) / 1e4)
  const battery = r.u8()
  const longitude = r.hex(5)
  const speedAndCourse = r.hex(3)
  const flags = Number.parseInt(longitude[9], 16)
  if (date === '000000') return undefined
  return {
    time: utcDmy(date, time),
    latitude: flags & NORTH ? latitude : -latitude,
    longitude: degreesMinutes(decimal(longitude.slice(0, 9)) / 1e4) * (flags & EAST ? 1 : -1),
    valid: (flags & VALID) !== 0,
    speed: optionalNumber(packedNumber(speedAndCourse.slice(0, 3)), knots),
    heading: heading(packedNumber(speedAndCourse.slice(3))),
    said: said({ ...saidOf(r.u32()), battery_percent: percentOf(battery) }),
  }
}

/** Of six levels the highest is full; 0 is not known. Other devices write the percentage. */
function percentOf(battery: number): number | undefined {
  return battery === HIGHEST ? 100 : battery > HIGHEST ? battery : undefined
}

function decimal(digits: string): number {
  if (!/^\d+$/.test(digits)) throw new DecodeError('malformed', `"${digits}" is not packed decimals`)
  return +digits
}
