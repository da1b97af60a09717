/*
 * Wialon IPS 1.1, 2.0 and 2.1 (Gurtam: "Wialon IPS communication protocol"), TCP and UDP. A packet is a line; in 2.x it
 * ends with C, which covers everything after the second #:
 *
 *   #L#imei;password      #L#2.0;imei;password;C     login; answer #AL#1, or #AL#0: refused
 *   #SD#T;t;Y;N;O;E;S;H;A;s[;C]                      short; answer #ASD#1
 *   #D#T;t;Y;N;O;E;S;H;A;s;P;inputs;outputs;adc;ibutton;parameters[;C]         extended; answer #AD#1
 *   #B#record|record|…[|C]                           black box, records as of SD or D; answer #AB#<how many were good>
 *   #P#                   #M#text[;C]                ping, message; answers #AP#, #AM#1
 *   #I#, #IT#, #T#, …                                pictures, tachograph files: skipped
 *   FF LL LL z…                                      one packet in zlib, L little-endian
 *   [2.0;]imei#SD#…                                  over UDP every packet names its device
 *
 *   T  DDMMYY                 Y, N  ddmm.mmmm, N or S          S  km/h          s  satellites
 *   t  hhmmss[.n]             O, E  dddmm.mmmm, E or W         H  degrees       P  HDOP
 *   C  CRC-16/ARC, hex        NA or nothing: not known         A  metres
 */
import { type Draft, type Fix, type Message, type Protocol, type Session, textProtocol } from '../kit/index.ts'
import { frameLength, lineOf, starts, withoutChecksum } from './packet.ts'

const RECORD = '[{dmy}];{hms};{latNmea};[{ns}];{lonNmea};[{ew}];{speedKmh};{course};{altitude}[;{satellites}]'
/** Inputs, outputs, analogue inputs, key of the driver, parameters. */
const BESIDES = '[;{hdop}[;{any:3};{driver}[;{parameters}]]][;{any}]'

const text = textProtocol({
  name: 'wialon',
  devices: 'WiaTag and all that can be set to Wialon IPS 1.1, 2.0, 2.1',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/ARC of 2.x', covers: coveredBytes },
  port: 5039,
  transports: ['tcp', 'udp'],
  frame: frameLength,
  starts,
  absent: 'NA',
  fields: { version: { like: '\\d\\.\\d' }, parameters: { read: readParameters } },
  before: withoutChecksum,
  fix,
  lines: [
    { like: `[{id}]#D#${RECORD}${BESIDES}`, answer: '#AD#1\r\n' },
    { like: `[{id}]#SD#${RECORD}[;{any}]`, answer: '#ASD#1\r\n' },
    {
      like: '[{id}]#B#{records}',
      fixes: { split: '|', like: `${RECORD}${BESIDES}` },
      answer: '#AB#{count}\r\n',
    },
    { like: '#L#[{version};]{id}[;{secret}]', none: 'login', answer: '#AL#1\r\n', refusal: '#AL#0\r\n' },
    { like: '[{id}]#P#', none: 'heartbeat', answer: '#AP#\r\n' },
    { like: '[{id}]#M#{any}', none: 'text', answer: '#AM#1\r\n' },
    { like: '[{id}]#I#{any}', none: 'photo' },
    { like: '[{id}]#D#{any}', unknown: 'position', answer: '#AD#1\r\n' },
    { like: '[{id}]#SD#{any}', unknown: 'position', answer: '#ASD#1\r\n' },
    { like: '[{id}]#{any}', unknown: 'type' },
  ],
})

export default {
  ...text,
  udp: { port: 5039 },
  decode: (frame: Buffer, session: Session): Message => text.decode(lineOf(frame), session),
} satisfies Protocol

/** From the second # on; a damaged version makes a login one of 1.1, which has no checksum. */
function coveredBytes(frame: Buffer): readonly [number, number] {
  const head = frame.indexOf('#', frame.indexOf('#') + 1) + 1
  return [frame.indexOf('#L#2.') < 0 ? head : head + 4, -6]
}

/** Of the parameters `SOS:1:1` is the alarm button. */
function readParameters(parameters: string, draft: Draft): void {
  if (parameters.includes('SOS:1:1')) draft.says({ alarms: ['sos'] })
}

/** With fewer satellites there is no position: a device without a fix sends its last one so. */
const MIN_SATELLITES = 3

/** NA says that the device does not count satellites, not that it has no position. */
function fix(draft: Draft, session: Session): Fix | undefined {
  draft.valid = (draft.satellites ?? MIN_SATELLITES) >= MIN_SATELLITES
  return draft.fix(session)
}
