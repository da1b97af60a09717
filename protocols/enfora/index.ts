/*
 * Enfora (Novatel) Spider GT, MT: "Enfora GSM API: UDP and TCP messages", text sentences only. TCP and UDP, no checksum over all.
 *
 *   LLLL x{4} … IIIIIIIIIIIIIII … [$]GPRMC|GNRMC,hhmmss.ss,A,Y,N,O,E,S,C,DDMMYY,…
 *
 *   L  length of all     I  IMEI or device id, 15 digits in text      Y, O  ddmm.mmmm       S  knots      C  degrees
 *   Binary reports of other contents are not read.
 */
import {
  DecodeError,
  degreesMinutes,
  type Fix,
  heading,
  knots,
  lengthField,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  utcDmy,
} from '../kit/index.ts'

const frame = lengthField({ at: 0, width: 2, add: 0, most: 2048 })

export default {
  name: 'enfora',
  devices: 'Enfora Spider GT, MT 2500, MT 3000',
  integrity: { none: 'of the sentence alone, which names no device' },
  tcp: { port: 5008, frame },
  udp: { port: 5008 },
  decode,
} satisfies Protocol

const ID = /(?<!\d)\d{15}(?!\d)/
const RMC = /G[NP]RMC,(\d{6})[\d.]*,([AV]),(\d+\.\d+),([NS]),(\d+\.\d+),([EW]),([^,]{0,20}),([^,]{0,20}),(\d{6})/
/** Both are looked for in so many bytes from the beginning on. */
const MOST = 2048

function decode(packet: Buffer): Message {
  const text = packet.toString('latin1', 0, MOST)
  const device = ID.exec(text)?.[0]
  const found = RMC.exec(text)
  if (device === undefined && packet.length < 4) throw new DecodeError('truncated')
  return found ? { device, fixes: [fixOf(found)] } : { device }
}

function fixOf([, time, validity, y, ns, x, ew, speed, course, date]: RegExpExecArray): Fix {
  const latitude = degreesMinutes(number(y))
  const longitude = degreesMinutes(number(x))
  return {
    time: utcDmy(date, time),
    latitude: ns === 'S' ? -latitude : latitude,
    longitude: ew === 'W' ? -longitude : longitude,
    valid: validity === 'A',
    speed: optionalNumber(speed, knots),
    heading: heading(optionalNumber(course)),
  }
}
