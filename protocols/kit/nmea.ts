import { verify, xorOfText } from './checksum.ts'
import { DecodeError } from './errors.ts'
import type { Fix, Session } from './protocol.ts'
import { number, TextReader } from './text.ts'
import { degreesMinutes, heading, knots, utcDmy } from './units.ts'

/**
 * The fix of an NMEA sentence `$xxRMC,hhmmss.sss,A,ddmm.mmmm,N,dddmm.mmmm,E,knots,degrees,DDMMYY,…*hh`; undefined where it
 * has no place or no date. Its checksum is verified where it has one.
 * @throws DecodeError `checksum`, `truncated`, `malformed`.
 */
export function rmcFix(sentence: string, session: Session): Fix | undefined {
  verifySentence(sentence, session)
  const r = new TextReader(sentence, ',')
  if (!r.next().endsWith('RMC')) throw new DecodeError('malformed', 'it is no RMC sentence')
  const time = r.next()
  const valid = r.next() === 'A'
  const latitude = nmeaAngle(r, 'NS')
  const longitude = nmeaAngle(r, 'EW')
  const speed = r.optionalNumber()
  const course = r.optionalNumber()
  const date = r.next().split('*', 1)[0]
  if (latitude === undefined || longitude === undefined || date === '' || time === '') return undefined
  return {
    time: utcDmy(date, time) + (time.length > 6 ? Math.round(number(`0${time.slice(6)}`) * 1000) : 0),
    latitude,
    longitude,
    valid,
    speed: speed === undefined ? undefined : knots(speed),
    heading: heading(course),
  }
}

/** Degrees of the next two fields, ddmm.mmmm and a hemisphere, which is negative by the second letter; undefined without. */
function nmeaAngle(r: TextReader, letters: 'NS' | 'EW'): number | undefined {
  const value = r.next()
  const letter = r.next().toUpperCase()
  if (value === '') return undefined
  const angle = degreesMinutes(number(value))
  if (letter === letters[0]) return angle
  if (letter === letters[1]) return -angle
  throw new DecodeError('malformed', `"${letter.slice(0, 40)}" is no hemisphere`)
}

/** Checks the two digits behind the star, over what stands between $ and it. @throws DecodeError `checksum`. */
function verifySentence(sentence: string, session: Session): void {
  const star = sentence.lastIndexOf('*')
  const digits = star < 0 ? '' : sentence.slice(star + 1, star + 3)
  if (!/^[0-9A-Fa-f]{2}$/.test(digits)) return
  verify(xorOfText(sentence, sentence.indexOf('$') + 1, star) === Number.parseInt(digits, 16), session)
}
