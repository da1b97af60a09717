import { crc16Arc, type Fix, TextWriter } from '../../../protocols/kit/index.ts'
import type { Packet, StreamSpeech } from './speech.ts'
import { textSpeech, until } from './text-speech.ts'
import { type FixWords, fixWords, hex, padded } from './write.ts'

/* Families of text. Their lines are drawn in protocols/<name>; what a position does not need is as an ordinary tracker has it. */

/** Sinotrack ST-901; answered by servers that have this switched on. */
export const h02 = textSpeech({
  name: 'h02',
  maxFixes: 1,
  fix: ({ hms, dmy, place, knots, course }, id) => [
    `*HQ,${id},V1,${hms},A,${place},${knots},${padded(course, 3)},${dmy},FFFFFBFF#`,
    `*HQ,${id},V4,V1,`,
  ],
  answers: until('#'),
})

/** Queclink GL200. Each report is answered by its count. */
export const gl200 = textSpeech({
  name: 'gl200',
  fix: (words, id, n) => {
    const count = hex(n & 0xffff, 4)
    const time = `20${words.ymd}${words.hms}`
    const cell = '0262,0001,28f1,71c5'
    return [
      `+RESP:GTFRI,1A0900,${id},,0,0,1,${queclinkPlace(words)},${time},${cell},,85,${time},${count}$`,
      `+SACK:${count}$`,
    ]
  },
  answers: until('$'),
})

/** The HDOP is a whole number from 1 on. */
function queclinkPlace({ kmh, course, altitude, hdop, latitude, longitude }: FixWords): string {
  const accuracy = Math.max(1, Math.round(hdop))
  return [accuracy, kmh.toFixed(1), course.toFixed(), altitude.toFixed(1), longitude, latitude].join()
}

/** Coban GPS103. */
export const gps103 = textSpeech({
  name: 'gps103',
  login: (id) => [`##,imei:${id},A;`, 'LOAD'],
  fix: ({ ymd, hms, place, knots, course }, id) => [
    `imei:${id},tracker,${ymd}${hms},,F,${hms}.000,A,${place},${knots},${course.toFixed(1)};`,
  ],
  heartbeat: (id) => [`${id};`, 'ON'],
  answers: (bytes) => ['ON', 'LOAD'].find((each) => bytes.toString('latin1').startsWith(each))?.length ?? 0,
})

/** Xexun TK103. */
export const tk103 = textSpeech({
  name: 'tk103',
  idDigits: 12,
  login: tk103Handshake,
  fix: ({ ymd, hms, lat, ns, lon, ew, kmh, course }, id) => [
    `(${id}BR00${ymd}A${lat}${ns}${lon}${ew}${padded(kmh, 5, 1)}${hms}${padded(course, 6, 2)}01000000L00000000)`,
  ],
  heartbeat: tk103Handshake,
  answers: until(')'),
})

function tk103Handshake(id: string) {
  return [`(${id}BP00${id}HSO)`, `(${id}AP01HSO)`] as const
}

/** Suntech ST300, which is not answered. */
export const suntech = textSpeech({
  name: 'suntech',
  idDigits: 10,
  isUnanswered: true,
  fix: ({ ymd, hms, latitude, longitude, kmh, course, satellites }, id, n) => {
    const clock = `20${ymd};${hms.replace(/(..)(..)/, '$1:$2:')}`
    const place = [latitude, longitude].map((angle) => (angle.startsWith('-') ? angle : `+${angle}`)).join(';')
    const motion = `${padded(kmh, 7, 3)};${padded(course, 6, 2)}`
    return [
      `ST300STT;${id};01;010;${clock};28f1c;${place};${motion};${satellites};1;0;13.85;100000;2;${padded(n % 10_000, 4)}\r`,
    ]
  },
})

/** Watches of 3G Electronics. */
export const watch = textSpeech({
  name: 'watch',
  idDigits: 10,
  login: watchLink,
  fix: ({ dmy, hms, latitude, ns, longitude, ew, kmh, course, altitude, satellites }, id) => {
    const place = `${latitude.replace('-', '')},${ns},${longitude.replace('-', '')},${ew}`
    const motion = `${kmh.toFixed(2)},${course.toFixed(1)},${altitude.toFixed()},${satellites}`
    return [watchMessage(id, `UD,${dmy},${hms},A,${place},${motion},100,85,1200,0,00000000,1,0,262,1,10481,29125,100`)]
  },
  heartbeat: watchLink,
  answers: until(']'),
})

function watchLink(id: string) {
  return [watchMessage(id, 'LK,1200,0,85'), watchMessage(id, 'LK')] as const
}

function watchMessage(id: string, content: string): string {
  return `[3G*${id}*${hex(content.length, 4)}*${content}]`
}

/** Jointech JT701. */
export const jt600 = textSpeech({
  name: 'jt600',
  idDigits: 10,
  maxFixes: 1,
  fix: ({ dmy, hms, latitude, ns, longitude, ew, kmh, course, satellites }, id) => {
    const place = `${latitude.replace('-', '')},${ns},${longitude.replace('-', '')},${ew}`
    const motion = `${(kmh / KM_PER_MILE).toFixed(1)},${course.toFixed()},${satellites}`
    return [`(${id},U01,${dmy},${hms},A,${place},${motion},88%,00000000000000,262,1,20,0,0,0)`, '(S39)']
  },
  answers: until(')'),
})

const KM_PER_MILE = 1.609344

/** Totem AT09. Each line is answered by its number. */
export const totem = textSpeech({
  name: 'totem',
  fix: ({ ymd, hms, satellites, course, kmh, hdop, lat, ns, lon, ew }, id, n) => {
    const number = padded(n % 10_000, 4)
    const place = `${padded(course, 3)}${padded(kmh, 3)}${padded(hdop, 4, 1)}0000000${lat}${ns}${lon}${ew}`
    const content = `AA${id}|${TOTEM_STATUS}${ymd}${hms}${TOTEM_VOLTS}${padded(satellites, 2)}20${place}${number}`
    const length = padded(content.length + 8, 4)
    return [new TextWriter().text(`$$${length}${content}`).xor().toBuffer().toString('latin1'), `$$0014AA${number}`]
  },
  answers: (bytes) => (bytes.length < TOTEM_ANSWER ? 0 : TOTEM_ANSWER),
})

/** Ignition on and fixed; volts of the van, an input, the cell. */
const TOTEM_STATUS = '18004000'
const TOTEM_VOLTS = '1385000028F171C5'
const TOTEM_ANSWER = 14

/** Upro TK110, which asks for an answer. */
export const upro = textSpeech({
  name: 'upro',
  maxFixes: 1,
  fix: ({ hms, dmy, lat, ns, lon, ew, kmh, course, altitude, satellites }, id) => {
    const flags = (ns === 'N' ? 2 : 0) | (ew === 'E' ? 4 : 0)
    const knots = kmh / 1.852
    const place = `${hms}${lat.replace('.', '')}${lon.replace('.', '')}${flags}`
    const motion = `${padded(Math.min(99, knots / 2), 2)}${padded(course / 10, 2)}`
    const more = `F${padded(knots * 10, 4)}&G${padded(Math.max(0, altitude) * 10, 6)}&R24${padded(satellites, 2)}`
    return [`*HQ201${id},BA&A${place}${motion}${dmy}&B0100000000&${more}#`, '*HQ20YBA#']
  },
  answers: until('#'),
})

/**
 * Wialon IPS 2.0: login #L#, one fix #D#, several #B#, each a line whose CRC-16/ARC, in hex, covers everything between the
 * second # and itself.
 */
export const wialon: StreamSpeech = {
  name: 'wialon',
  protocol: 'wialon',
  transport: 'tcp',
  maxFixes: 50,
  login: (id) => ({ bytes: wialonLine('L', `2.0;${id};NA;`), accepted: (answer) => verdict(answer, 'AL', 1) }),
  packet: wialonPacket,
  answers: until('\n'),
}

function wialonPacket(fixes: readonly Fix[]): Packet {
  return fixes.length === 1
    ? { bytes: wialonLine('D', `${record(fixes[0])};`), accepted: (answer) => verdict(answer, 'AD', 1) }
    : {
        bytes: wialonLine('B', fixes.map((fix) => `${record(fix)}|`).join('')),
        accepted: (answer) => verdict(answer, 'AB', fixes.length),
      }
}

/** date;time;lat1;lat2;lon1;lon2;speed;course;altitude;satellites;hdop;inputs;outputs;adc;ibutton;params */
function record(fix: Fix): string {
  const { dmy, hms, place, kmh, course, altitude, satellites, hdop } = fixWords(fix)
  const motion = [kmh, course, altitude].map((value) => value.toFixed()).join(';')
  return `${dmy};${hms};${place.replaceAll(',', ';')};${motion};${satellites};${hdop.toFixed(1)};1;0;;NA;pwr_ext:2:13.85`
}

function wialonLine(type: string, body: string): Buffer {
  return Buffer.from(`#${type}#${body}${hex(crc16Arc(Buffer.from(body)), 4)}\r\n`)
}

/** Returns whether an answer such as #AD#1 accepts the whole packet; undefined if it answers something else. */
function verdict(answer: Buffer, type: string, all: number): boolean | undefined {
  const [, name, code] = /^#([A-Z]+)#(-?\d*)\r?\n$/.exec(answer.toString('latin1')) ?? []
  return name === type ? code === String(all) : undefined
}
