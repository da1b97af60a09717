/*
 * TLT-2H, V500, MT500, MT600, MT700, MT710, MP90 (Mobiletron clones). "SMS and GPRS mode protocol"
 * of the UDT-TV-02, as far as the frames show it. TCP and UDP, text of several lines that ends with ##:
 *
 *   #I#m#p#k#n
 *   #b$GPRMC,…*XX      position, NMEA 0183
 *   #b$WIFI,…*XX       no fix: Wi-Fi
 *   ##
 *
 *   I  IMEI     p  password     n  how many lines follow     X  XOR between $ and *
 *   m  model    k  event        b  battery, cells
 *
 * Nothing is answered.
 */
import {
  DecodeError,
  eachReadable,
  endsWith,
  type Fix,
  type Message,
  type Protocol,
  rmcFix,
  type Session,
  verify,
  xorOfText,
} from '../kit/index.ts'

const frame = endsWith('##\r\n')

export default {
  name: 'tlt2h',
  devices: 'TLT-2H, V500, V600, MT500, MT600, MT700, MT710, MP90',
  integrity: { checksum: 'XOR', covers: (bytes) => [bytes.indexOf('$') + 1, bytes.indexOf('*')] },
  tcp: { port: 5030, frame },
  udp: { port: 5030, frame },
  decode,
} satisfies Protocol

const HEAD = /^#(\d{10,17})#/

function decode(bytes: Buffer, session: Session): Message {
  const lines = bytes.toString('latin1').trim().split('\n')
  const [, device] = HEAD.exec(lines[0]) ?? []
  if (device === undefined) throw new DecodeError('unsupported')
  const sentences = lines.flatMap((line) => (line.includes('$') ? [line.slice(line.indexOf('$'))] : []))
  if (sentences.length === 0) return { device }
  const { good, unreadable } = eachReadable(sentences, (sentence) => fixOf(sentence, session))
  const fixes = good.filter((fix) => fix !== undefined)
  if (fixes.length > 0) return { device, fixes, unreadable }
  return { device, none: sentences.some((sentence) => sentence.startsWith('$WIFI,')) ? 'wifi' : 'no fix' }
}

/** Undefined of a sentence of Wi-Fi, and without a place. @throws DecodeError */
function fixOf(sentence: string, session: Session): Fix | undefined {
  if (/^\$[A-Z]{2}RMC,/.test(sentence)) return rmcFix(sentence, session)
  const star = sentence.indexOf('*')
  const end = star < 0 ? sentence.length : star
  verify(xorOfText(sentence, 1, end) === Number.parseInt(sentence.slice(end + 1), 16), session)
  if (sentence.startsWith('$WIFI,')) return undefined
  throw new DecodeError('unsupported', `the sentence ${sentence.slice(0, 10)}`)
}
