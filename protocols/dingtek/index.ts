/*
 * Dingtek DF and DC level sensors with a modem. No specification is known: inferred from frames, and from the maker's payload
 * formatters of the same content over LoRaWAN (github.com/TheThingsNetwork/lorawan-devices). Hexadecimal digits as text:
 *
 *   8000 MM TT LL HHHH P [OOOOOOOO AAAAAAAA] x{5} VVVV … 1IIIIIIIIIIIIIII 81
 *
 *   M  model     T  01: a measurement, 02: an alarm, 03: settings, which hold text and end with 81 without an IMEI
 *   I  IMEI      L  bytes in all; of settings it is not exact     P  01: there is a place; 00: there is none
 *   H  height    O, A  longitude, latitude, degrees, floats: little-endian over LoRaWAN
 *   V  battery, 0.01 V
 *
 * No frame with a place is known: the place is read big-endian if it is none in little-endian. The fix has the time of its
 * arrival. There is no answer.
 */
import {
  ByteReader,
  DecodeError,
  EndSearch,
  type Fix,
  type Framer,
  type Message,
  type Protocol,
  type Session,
  said,
  trimEnd,
} from '../kit/index.ts'

export default {
  name: 'dingtek',
  devices: 'Dingtek DF555, DF702, DC413',
  tcp: { port: 5208, frame: frameOf() },
  decode,
} satisfies Protocol

const START = '8000'
const SETTINGS = '03'
const HEAD = 10

/** Measurements end by their length; settings with the first 81 about there. */
function frameOf(): Framer {
  const end = new EndSearch('81')
  return (bytes, session) => {
    const head = bytes.toString('latin1', 0, HEAD)
    if (!head.startsWith(START)) return START.startsWith(head) ? 0 : -1
    if (head.length < HEAD) return 0
    const length = Number.parseInt(head.slice(8), 16) * 2
    if (!(length > HEAD)) return -1
    if (head.slice(6, 8) === SETTINGS) return end.after(bytes, length - 4, session)
    return bytes.length < length ? 0 : length
  }
}

function decode(frame: Buffer, session: Session): Message {
  const text = trimEnd(frame).toString('latin1')
  const [, type] = /^8000[0-9A-Fa-f]{2}(\d\d)/.exec(text) ?? []
  if (type === undefined || !text.endsWith('81'))
    throw new DecodeError('unsupported', 'the frame does not begin with 8000 and end with 81')
  if (type === SETTINGS) return { none: 'command answer' }
  const [, device] = /1(\d{15})81$/.exec(text) ?? []
  if (device === undefined) throw new DecodeError('malformed', 'the frame has no IMEI')
  if (type !== '01' && type !== '02') return { device }
  const r = new ByteReader(Buffer.from(text, 'hex')).skip(7)
  if (r.u8() === 0) return { device, none: 'no place', said: batteryOf(r) }
  const place = placeOf(r.ahead())
  const other = { longitude: r.f32(), latitude: r.f32() }
  return { device, fixes: [{ time: session.now, ...(place ?? other), valid: true, said: batteryOf(r) }] }
}

/** Undefined where the floats are none of a place: read in the wrong order, they are tiny or huge. */
function placeOf(r: ByteReader): Pick<Fix, 'latitude' | 'longitude'> | undefined {
  const [longitude, latitude] = [r.f32le(), r.f32le()]
  return isDegrees(longitude, 180) && isDegrees(latitude, 90) ? { longitude, latitude } : undefined
}

const isDegrees = (value: number, most: number) => Math.abs(value) > 1e-6 && Math.abs(value) <= most

/** Behind it stand at least the IMEI and the end, 9 bytes. */
const batteryOf = (r: ByteReader) => (r.left < 16 ? undefined : said({ battery_voltage: r.skip(5).u16() / 100 }))
