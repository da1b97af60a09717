import { textSpeech, until } from './text-speech.ts'
import { type FixWords, sentence } from './write.ts'

/* Families whose positions are, or contain, NMEA sentences. Their lines are drawn in protocols/<name>. */

/** Modules and routers with NMEA 0183 over TCP, which name themselves first. */
export const t55 = textSpeech({
  name: 't55',
  maxFixes: 1,
  login: (id) => [sentence(`PGID,${id}`)],
  fix: (words) => [sentence(rmc(words)), 'OK1'],
  answers: until('\n'),
})

/** Xexun TK102, which is not answered. */
export const xexun = textSpeech({
  name: 'xexun',
  isUnanswered: true,
  fix: (words, id) => {
    const { ymd, hms, satellites, altitude } = words
    const line = sentence(rmc(words)).slice(1).trimEnd()
    const rest = `${String(satellites).padStart(2, '0')},${altitude.toFixed(1)},F:4.15V,0,139,2689,262,01,28F1,71C5`
    return [`${ymd}${hms},+491700000000,${line},F,, imei:${id},${rest}\r\n`]
  },
})

function rmc({ hms, place, knots, course, dmy }: FixWords): string {
  return `GPRMC,${hms}.000,A,${place},${knots},${course.toFixed(2)},${dmy},,,A`
}

/** Megastek GVT, which is not answered. */
export const megastek = textSpeech({
  name: 'megastek',
  isUnanswered: true,
  fix: ({ dmy, hms, place, satellites, hdop, knots, course, altitude }, id) => {
    const signal = `00,${String(satellites).padStart(2, '0')},00,${hdop.toFixed(2)}`
    const motion = `${knots},${course.toFixed(2)},${altitude.toFixed(1)}`
    const rest = '0.0,262,01,28F1,71C5,25,0000,0000,0,0,0,28.5,28.3,,,100,Timer;!'
    return [`$MGV002,${id},Van,R,${dmy},${hms},A,${place},${signal},${motion},${rest}`]
  },
})

/** Laipac S911: the letter in lower case asks for an answer, which repeats the checksum of the line. */
export const laipac = textSpeech({
  name: 'laipac',
  maxFixes: 1,
  fix: ({ hms, place, knots, course, dmy }, id) => {
    const line = sentence(`AVRMC,${id},${hms},a,${place},${knots},${course.toFixed(2)},${dmy},0,1385,0,1,0,0`)
    return [line, `$EAVACK,0,${line.trimEnd().slice(-2)}*`]
  },
  answers: until('\n'),
})
