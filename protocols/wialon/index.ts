/*
 * Wialon IPS 1.1, 2.0 and 2.1 (Gurtam: "Wialon IPS communication protocol"), TCP and UDP. A packet is a line; in 2.x it
 * ends with C, which covers everything after the second #:
 *
 *   #L#imei;password      #L#2.0;imei;password;C     login; answer #AL#1, or #AL#0: refused
 *   #SD#T;t;Y;N;O;E;S;H;A;s[;C]                      short; answer #ASD#1
 *   #D#T;t;Y;N;O;E;S;H;A;s;P;inputs;outputs;adc;ibutton;parameters[;C]         extended; answer #AD#1
 *   #B#record|record|…[|C]                           black box, records as of SD or D; answer #AB#<how many were good>
 *   #P#                   #M#text[;C]                ping, message; answers #AP#, #AM#1
 *   #I#, #IT#, #T#, …                                pictures, tachograph files, video: skipped
 *   FF LL LL z…                                      one packet in zlib, L little-endian
 *   [2.0;]imei#SD#…                                  over UDP every packet names its device
 *
 *   T  DDMMYY                 Y, N  ddmm.mmmm, N or S          S  km/h          s  satellites
 *   t  hhmmss[.n]             O, E  dddmm.mmmm, E or W         H  degrees       P  HDOP
 *   C  CRC-16/ARC, hex        NA or nothing: not known         A  metres
 */
import {
  DecodeError,
  degreesMinutes,
  eachReadable,
  type Fix,
  heading,
  kmh,
  type Message,
  number,
  type Protocol,
  type Session,
  TextReader,
  utcDmy,
} from '../kit/index.ts'
import { frameLength, type Packet, packetOf, starts, verified } from './packet.ts'

export default {
  name: 'wialon',
  devices: 'WiaTag and all that can be set to Wialon IPS 1.1, 2.0, 2.1',
  acknowledges: 'fixes',
  accuracy: 'hdop',
  integrity: { checksum: 'CRC-16/ARC of 2.x', covers: coveredBytes },
  escaping: 'none',
  tcp: { port: 5039, frame: frameLength, starts },
  udp: { port: 5039 },
  decode,
} satisfies Protocol

/** From the second # on; a damaged version makes a login one of 1.1, which has no checksum. */
function coveredBytes(frame: Buffer): readonly [number, number] {
  const head = frame.indexOf('#', frame.indexOf('#') + 1) + 1
  return [frame.indexOf('#L#2.') < 0 ? head : head + 4, -6]
}

/** With fewer satellites there is no position. */
const MIN_SATELLITES = 3

/** Sessions whose login was of 2.x: each of their packets has a checksum. */
const version2 = new WeakSet<Session>()

function decode(frame: Buffer, session: Session): Message {
  const packet = packetOf(frame)
  const read = READERS.get(packet.type)
  const device = packet.device || undefined
  if (!read) return { device }
  const text = verified(packet, version2.has(session), session.lenient)
  return { device, ...read(text, session, packet) }
}

const READERS = new Map<string, (text: string, session: Session, packet: Packet) => Message>([
  ['L', login],
  ['SD', (text, session) => ({ fixes: recordOf(text, session), reply: Buffer.from('#ASD#1\r\n') })],
  ['D', (text, session) => ({ fixes: recordOf(text, session), reply: Buffer.from('#AD#1\r\n') })],
  ['B', blackBox],
  ['P', () => ({ none: 'ping', reply: Buffer.from('#AP#\r\n') })],
  ['M', () => ({ none: 'text', reply: Buffer.from('#AM#1\r\n') })],
])

function login(text: string, session: Session, { isVersion2 }: Packet): Message {
  if (isVersion2) version2.add(session)
  const [device, password = ''] = text.split(';').slice(isVersion2 ? 1 : 0)
  if (!device) throw new DecodeError('malformed', 'the login has no id')
  const secret = valueOf(password)
  return { device, secret, none: 'login', reply: Buffer.from('#AL#1\r\n'), refusal: Buffer.from('#AL#0\r\n') }
}

function blackBox(text: string, session: Session): Message {
  const records = text.split('|').filter((record) => record !== '')
  const { good, unreadable } = eachReadable(records, (record) => recordOf(record, session))
  return { fixes: good.flat(), unreadable, reply: Buffer.from(`#AB#${good.length}\r\n`) }
}

/** The fix of a record: none without time and place, an invalid one without a place. */
function recordOf(record: string, session: Session): Fix[] {
  const r = new TextReader(record, ';')
  const time = timeOf(valueOf(r.next()), valueOf(r.next()))
  const latitude = angleOf(r, 'N', 'S')
  const longitude = angleOf(r, 'E', 'W')
  const hasPlace = latitude !== undefined && longitude !== undefined
  if (time === undefined && !hasPlace) return []
  const speed = measured(r)
  const course = measured(r)
  const altitude = measured(r)
  const satellites = measured(r)
  return [
    {
      // By the specification a record without a time has the time of its arrival.
      time: time ?? session.now,
      latitude: latitude ?? 0,
      longitude: longitude ?? 0,
      valid: hasPlace && satellites !== undefined && satellites >= MIN_SATELLITES,
      altitude,
      speed: speed === undefined ? undefined : kmh(speed),
      heading: heading(course),
      hdop: r.ended ? undefined : measured(r),
      satellites,
    },
  ]
}

/** ms UTC of DDMMYY and hhmmss, with a fraction where there is one. */
function timeOf(date: string | undefined, time: string | undefined): number | undefined {
  if (date === undefined || time === undefined) return undefined
  const fraction = time.length > 6 ? number(`0${time.slice(6)}`) : 0
  return utcDmy(date, time) + Math.trunc(fraction * 1000)
}

/** Degrees from a field ddmm.mmmm and a field with the letter of the hemisphere. */
function angleOf(r: TextReader, positive: string, negative: string): number | undefined {
  const value = measured(r)
  const letter = r.next()
  if (value === undefined) return undefined
  if (letter !== positive && letter !== negative) throw new DecodeError('malformed', `"${letter}" is not a hemisphere`)
  return letter === negative ? -degreesMinutes(Math.abs(value)) : degreesMinutes(value)
}

function measured(r: TextReader): number | undefined {
  const value = valueOf(r.next())
  return value === undefined ? undefined : number(value)
}

function valueOf(field: string): string | undefined {
  return field === '' || field === 'NA' ? undefined : field
}
