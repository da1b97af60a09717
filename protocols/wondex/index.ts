/*
 * Wonde Proud WondeX VT300, VT10, SPT-10 …: "VT300 Protocol Document V1.01" (fdocuments.net). A line of text, TCP and UDP;
 * no checksum.
 *
 *   I,YYYYMMDDhhmmss,O,L,S,H,A,n,E[,…]        report, UTC; a VT10 has its battery behind E: 3.90V
 *   $RP:tag,I,…                               the same with a tag; answers to commands ($OK:…) may hold one too
 *   $OK:…  $ERR:…  $MSG:…                     answer to a command
 *   D0 D7 NNNN IIIIIIII                       keep-alive, little-endian
 *
 *   I  unit id               S  speed, km/h          A  altitude, metres           E  report id
 *   O, L  longitude,         H  heading, degrees     n  satellites, 0: no fix      N  number of the keep-alive
 *         latitude, degrees                          Nothing is answered.
 */
import {
  ByteReader,
  DecodeError,
  dialects,
  fixedLength,
  heading,
  kmh,
  line,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  said,
  trimEnd,
  utcYmd,
} from '../kit/index.ts'

const KEEP_ALIVE = Buffer.from([0xd0, 0xd7])

const wire = dialects([
  { when: KEEP_ALIVE, frame: fixedLength(8), decode: keepAlive },
  { frame: line, decode: text },
])

export default {
  name: 'wondex',
  devices: 'WondeX VT300, VT10, SPT-10, VT400 and others of Wonde Proud',
  tcp: { port: 5032, frame: wire.frame },
  udp: { port: 5032, frame: wire.frame },
  decode: wire.decode,
} satisfies Protocol

const REPORT =
  /(?:^|[:=,])(\d{1,20}), ?(\d{14}), ?([-+]?\d{1,3}(?:\.\d{1,10})?), ?([-+]?\d{1,2}(?:\.\d{1,10})?), ?([^,]{0,12}), ?([^,]{0,12}), ?([^,]{0,12}), ?([^,]{1,12})(?=,|$)/

/** A report with other fields behind its time: it is kept. */
const OTHER_REPORT = /^(?:\$RP:[^,]{0,20},)?(\d{5,20}), ?\d{14},/

function keepAlive(frame: Buffer): Message {
  return { device: String(new ByteReader(frame).skip(4).u32le()), none: 'heartbeat' }
}

function text(frame: Buffer): Message {
  const report = trimEnd(frame).toString('latin1')
  const match = REPORT.exec(report)
  if (!match) {
    if (/^\$(OK|ERR|MSG)\b/.test(report)) return { none: 'command answer' }
    const device = OTHER_REPORT.exec(report)?.[1]
    if (device !== undefined) return { device, fixes: [] }
    throw new DecodeError('unsupported', 'the frame is neither a report nor an answer')
  }
  const [whole, device, time, longitude, latitude, speed, course, altitude, satellites] = match
  const volts = /^,[^,]*,(\d{1,2}\.\d{1,3})V(?:,|$)/.exec(report.slice(match.index + whole.length))?.[1]
  return {
    device,
    fixes: [
      {
        time: utcYmd(time),
        latitude: number(latitude),
        longitude: number(longitude),
        valid: satellites !== '0',
        altitude: optionalNumber(altitude),
        speed: optionalNumber(speed, kmh),
        heading: heading(optionalNumber(course)),
        satellites: optionalNumber(satellites),
        said: said({ battery_voltage: optionalNumber(volts) }),
      },
    ],
  }
}
