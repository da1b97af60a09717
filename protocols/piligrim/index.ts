/*
 * Piligrim Tracker, and Piligrim "Patrol" buttons. No specification is known: inferred from requests. HTTP POST:
 *
 *   /bingps?imei=I&…   body: records FF F2 LL DD YM hh mm ss aa aa aa aa oo oo oo oo xx nn … BBBB …  answer BINGPS: OK
 *   /push.do           form: phoneNumber=I&message=text; $GPRMC,…; …                             answer PUSH.DO: OK
 *
 *   L  length of the record        Y  years since 2010, modulo 16, M  month: a nibble each      n  satellites
 *   D  day                         a, o  degrees, minutes, and hundredths of minutes twice, a byte each
 *   B  battery, 0.01 V, little-endian
 *
 * Where the hemisphere, the heading and the speed of a record stand is not known: what was seen is north and east.
 */
import {
  ByteReader,
  DecodeError,
  enveloped,
  type Fix,
  type HttpRequest,
  type Message,
  type Protocol,
  parametersOf,
  readableFixes,
  rmcFix,
  type Session,
  said,
  utc,
} from '../kit/index.ts'

export default {
  name: 'piligrim',
  devices: 'Piligrim Tracker',
  acknowledges: 'fixes',
  http: { port: 5059 },
  request,
} satisfies Protocol

const START = 0xfff2
/** Bytes between the satellites and the battery. */
const BEFORE_BATTERY = 6

function request(report: HttpRequest, session: Session): Message {
  if (report.uri.startsWith('/bingps')) return records(report, session)
  if (report.uri.startsWith('/push.do')) return pushed(report, session)
  throw new DecodeError('unsupported', 'the path of the request is neither /bingps nor /push.do')
}

function records({ uri, body }: HttpRequest, { now }: Session): Message {
  const device = parametersOf({ uri, body: Buffer.alloc(0) }).get('imei') || undefined
  if (device === undefined) throw new DecodeError('malformed', 'imei is missing')
  return enveloped({ device, response: { body: 'BINGPS: OK' } }, () => {
    const entries: Buffer[] = []
    for (let at = 0; at + 3 <= body.length && body.readUInt16BE(at) === START && body[at + 2] >= 3; at += body[at + 2])
      entries.push(body.subarray(at + 3, at + body[at + 2]))
    return readableFixes(entries, (record) => recordOf(record, now), { none: 'no place' })
  })
}

function recordOf(record: Buffer, now: number): Fix {
  const r = new ByteReader(record)
  const day = r.u8()
  const yearMonth = r.u8()
  const time = utc(yearUntil(2010 + (yearMonth >> 4), now), yearMonth & 0x0f, day, r.u8(), r.u8(), r.u8())
  const latitude = angleOf(r)
  const longitude = angleOf(r)
  const satellites = r.skip(1).u8()
  const battery_voltage = r.left < BEFORE_BATTERY + 2 ? undefined : r.skip(BEFORE_BATTERY).u16le() / 100
  return { time, latitude, longitude, valid: satellites > 0, satellites, said: said({ battery_voltage }) }
}

/** The last year until tomorrow that the same nibble stands for: it says 16 years. */
function yearUntil(year: number, now: number): number {
  return year + Math.floor((new Date(now + DAY_MS).getUTCFullYear() - year) / 16) * 16
}

const DAY_MS = 86_400_000

function angleOf(r: ByteReader): number {
  return r.u8() + (r.u8() + r.u8() / 100 + r.u8() / 10_000) / 60
}

function pushed(report: HttpRequest, session: Session): Message {
  const parameters = parametersOf(report)
  const device = parameters.get('phoneNumber')?.replace(/\D/g, '') || undefined
  if (device === undefined) throw new DecodeError('malformed', 'phoneNumber is missing')
  return enveloped({ device, response: { body: 'PUSH.DO: OK' } }, () => {
    const message = parameters.get('message') ?? ''
    const at = message.indexOf('$GPRMC,')
    const fix = at < 0 ? undefined : rmcFix(message.slice(at).split(';', 1)[0], session)
    return fix ? { fixes: [fix] } : { none: 'no place' }
  })
}
