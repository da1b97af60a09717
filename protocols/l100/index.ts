/*
 * Atlanta Systems L-100 and others. No specification is known: inferred from frames. Text, with three layouts:
 *
 *   ATLI,$GPRMC,…*XX…ATL                                   with ,NP, in front of I too; bytes around it are skipped
 *   ATL,L,I,N,DDMMYY,hhmmss,v,AAA.A,N,OOO.O,E,S,…@
 *   L,ATL,I,01,NNNN,*C                                     login; H: from the memory
 *   H,ATL,I,02,NNNN,hhmmss,DDMMYY,v,AA.A;N,OO.O;E,S,G,…*C  position; 03 and others, and ATLOBD: none
 *
 *   I  IMEI                     v  A: a fix     A, O  degrees     N  number     S  speed, km/h (a guess; of GPRMC knots)
 *   C  a checksum: over what is not known       G  heading
 *
 * Answer: 01 to the first layout, '@I,00,N,*' and XOR of what stands in front of the star to a login.
 */
import {
  DecodeError,
  dialects,
  EndSearch,
  endsWith,
  enveloped,
  type Fix,
  type Framer,
  heading,
  kmh,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  rmcFix,
  type Session,
  said,
  TextReader,
  utcDmy,
  xor,
} from '../kit/index.ts'

const framed = dialects([
  { when: 'ATL,L,', frame: endsWith('@'), decode: plain },
  { when: ['L,ATL', 'H,ATL'], frame: starred(), decode: numbered },
  { when: 'ATL', frame: sentenceFrame(), decode: sentence },
])

export default {
  name: 'l100',
  devices: 'Atlanta L-100, L-200 and others',
  acknowledges: 'some',
  integrity: { none: 'over what its characters of a checksum are is not known' },
  tcp: { port: 5112, frame: framed.frame },
  decode: framed.decode,
} satisfies Protocol

/** The place of the battery (V) among the fields behind the last #. */
const BATTERY = 6
const ACK = Buffer.from([0x01])

/** Up to the second ATL. */
function sentenceFrame(): Framer {
  const end = new EndSearch('ATL')
  return (bytes, session) => end.after(bytes, 6, session)
}

/** Up to the star and one byte. */
function starred(): Framer {
  const end = new EndSearch('*')
  return (bytes, session) => {
    const length = end.after(bytes, 6, session)
    return length === 0 || bytes.length <= length ? 0 : length + 1
  }
}

function sentence(frame: Buffer, session: Session): Message {
  const text = frame.toString('latin1')
  const [, device, nmea] = /^ATL,?(?:[A-Z]+,)*(\d{15})[^$]*(\$[^$#]*)/.exec(text) ?? []
  if (device === undefined) throw new DecodeError('unsupported', 'the frame has no IMEI and sentence')
  if (!nmea.startsWith('$GPRMC')) return { device, reply: ACK }
  return enveloped({ device, reply: ACK }, () => {
    const fix = rmcFix(nmea, session)
    const battery = optionalNumber(text.slice(text.lastIndexOf('#')).split(',', BATTERY + 1)[BATTERY])
    return fix ? { fixes: [{ ...fix, said: said({ battery_voltage: battery }) }] } : { none: 'no place' }
  })
}

function plain(frame: Buffer): Message {
  const r = new TextReader(frame.toString('latin1'), ',')
  const device = r.skip(2).next()
  return enveloped({ device }, () => ({ fixes: [plainFix(r.skip())] }))
}

function plainFix(r: TextReader): Fix {
  const date = r.next()
  const time = utcDmy(date, r.next())
  const valid = r.next() === 'A'
  const latitude = angle(r.next(), r.next())
  const longitude = angle(r.next(), r.next())
  return { time, latitude, longitude, valid, speed: speedOf(r) }
}

function numbered(frame: Buffer): Message {
  const r = new TextReader(frame.toString('latin1'), ',')
  const kind = r.skip().next()
  const device = r.next()
  const type = r.next()
  const serial = r.next()
  if (kind === 'ATLOBD') return { device, none: 'status' }
  if (type === '01') return { device, none: 'login', reply: answer(device, serial) }
  return type === '02' ? enveloped({ device }, () => numberedFix(r)) : { device }
}

function numberedFix(r: TextReader): Message {
  const clock = r.next()
  const time = utcDmy(r.next(), clock)
  const valid = r.next() === 'A'
  const [latitude, ns = ''] = r.next().split(';')
  const [longitude, ew = ''] = r.next().split(';')
  if (latitude === '' || longitude === '') return { none: 'no place' }
  const place = { latitude: angle(latitude, ns), longitude: angle(longitude, ew) }
  const fix = { time, ...place, valid, speed: speedOf(r), heading: heading(r.optionalNumber()) }
  r.optionalNumber()
  return { fixes: [{ ...fix, said: said({ battery_voltage: r.optionalNumber() }) }] }
}

function speedOf(r: TextReader): number | undefined {
  const speed = r.optionalNumber()
  return speed === undefined ? undefined : kmh(speed)
}

function answer(device: string, serial: string): Buffer {
  const text = `@${device},00,${Number(serial) || 0},`
  return Buffer.from(`${text}*${String.fromCharCode(xor(Buffer.from(text, 'latin1')))}`, 'latin1')
}

const angle = (degrees: string, letter: string) => number(degrees) * (letter === 'S' || letter === 'W' ? -1 : 1)
