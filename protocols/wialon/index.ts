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
  type Draft,
  drawn,
  eachReadable,
  type Fix,
  type Message,
  type Protocol,
  type Session,
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

/** With fewer satellites, or none named, there is no position: a device without a fix sends its last one so. */
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

/** SD, and D with its further fields. */
const RECORD = drawn(
  '[{dmy}];{hms};{latNmea};[{ns}];{lonNmea};[{ew}];{speedKmh};{course};{altitude};{satellites}[;{hdop}[;{any}]]',
  { absent: 'NA' },
)

/** The fix of a record: none without time and place, an invalid one without a place. */
function recordOf(record: string, session: Session): Fix[] {
  const draft = RECORD.match(record, session)
  if (!draft) throw new DecodeError('malformed', `the record "${record.slice(0, 40)}"`)
  const hasPlace = draft.latitude !== undefined && draft.longitude !== undefined
  if (!hasPlace && draft.day === undefined) return []
  if (!hasPlace) draft.latitude = draft.longitude = 0
  draft.valid = hasPlace && hasEnoughSatellites(draft, session)
  const fix = draft.fix(session)
  return fix ? [fix] : []
}

/** With `valid_without_satellites` in the device's settings a position counts also where their number is missing. */
function hasEnoughSatellites({ satellites }: Draft, { settings }: Session): boolean {
  return satellites === undefined ? settings.valid_without_satellites === true : satellites >= MIN_SATELLITES
}

function valueOf(field: string): string | undefined {
  return field === '' || field === 'NA' ? undefined : field
}
