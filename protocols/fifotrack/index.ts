/*
 * Fifotrack A100, A300, A600, S20, Q1, Q3: "FIFOTRACK GPRS protocol – A03" V1.1, as far as the frames show it; the checksum:
 * "FIFOTRACK Q3 command list", §1 (manualslib.com/manual/3159039). TCP.
 *
 *   $$LLL,I,N,TYPE,…*KK\r\n
 *
 *   A00  t,A,Y,O,S,C,H,km,x,status,x,x,cells,inputs,card …     A01, A02  e,t,A,…      position; e: 2 SOS, others by model
 *   A03  e,t,cells,V,%,status,0,A,S,s,Y,O   A03 … 1,wifi                         position of asset trackers
 *   status   of eight digits: the first are the satellites
 *   D05, D06  photo                         others: answers to commands
 *
 *   L  from the first comma to before *     t  YYMMDDhhmmss       S  km/h       K  XOR of all before *
 *   I  IMEI     N  number, hexadecimal      A  A: valid, V: not   C  degrees    H  metres
 *
 * Answer to A03: ##LL,I,N,A03,YYMMDDhhmmss*KK
 */
import {
  alarmsOf,
  DecodeError,
  digitsOfTime,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  said,
  TextReader,
  TextWriter,
  utcYmd,
  verifiedHex,
  xor,
  xorOfText,
} from '../kit/index.ts'

export default {
  name: 'fifotrack',
  devices: 'Fifotrack A100, A300, A600, S20, Q1, Q3',
  acknowledges: 'some',
  integrity: { checksum: 'XOR', covers: [0, -5] },
  tcp: {
    port: 5124,
    frame: lengthField({ start: '$$', at: 2, width: 4, digits: 10, until: ',', add: 5, end: '\r\n', most: 8192 }),
  },
  decode,
} satisfies Protocol

function decode(frame: Buffer, session: Session): Message {
  const trailing = frame.at(-1) === 0x0a ? 2 : 0
  const content = verifiedHex(frame, { sum: beforeStar, from: 0, width: 2, trailing }, session)
  const r = new TextReader(content.toString('latin1', 2, content.length - 1), ',')
  const device = r.skip().next()
  const number = r.next()
  const type = r.next()
  if (!/^[\w-]+$/.test(device)) throw new DecodeError('malformed', 'the frame has no id')
  const reply = type === 'A03' ? answer(device, number, session.now) : undefined
  return enveloped({ device, reply }, () => contentOf(type, r, content.toString('latin1')))
}

function contentOf(type: string, r: TextReader, text: string): Message {
  // Firmware for some trackers has no field for the alarm.
  if (type !== 'A03' && POSITION.test(text)) return { fixes: [fixOf(r)] }
  if (type !== 'A03' && WITHOUT_PLACE.test(text)) return { none: 'no fix' }
  switch (type) {
    case 'A00':
    case 'A01':
    case 'A02':
      return { fixes: [] }
    case 'A03':
      return asset(r)
    case 'D05':
    case 'D06':
      return { none: 'photo' }
    default:
      return { none: /^[BCDS]\d\d$/.test(type) ? 'command answer' : undefined }
  }
}

/** XOR of all but the last character, which is the star. */
function beforeStar(bytes: Uint8Array): number {
  return xor(bytes.subarray(0, -1))
}

const POSITION = /^\$\$\d+,[^,]*,[^,]*,A\d\d,(?:[^,]*,)?\d{12},[AV],-?\d/
const WITHOUT_PLACE = /^\$\$\d+,[^,]*,[^,]*,A\d\d,(?:[^,]*,)?\d{12},V,,,/

function fixOf(r: TextReader): Fix {
  const first = r.next()
  const fix = {
    time: utcYmd(/^\d{12}$/.test(first) ? first : r.next()),
    valid: r.next() === 'A',
    latitude: r.number(),
    longitude: r.number(),
    ...motionOf(r),
  }
  const rest = r.rest()
  const alarms = alarmsOf(first === SOS && 'sos')
  return { ...fix, satellites: satellitesOf(rest), said: said({ alarms, driver: driverOf(rest) }) }
}

/** The alarm that frames show; the codes of the others depend on the model. */
const SOS = '2'

/** The number of a card, in hexadecimal digits behind the analogue inputs; magnetic cards have a text there. */
function driverOf(rest: string): string | undefined {
  const card = rest.split(',', CARD + 1)[CARD]
  return card !== undefined && /^[\dA-Fa-f]{1,8}$/.test(card) ? String(Number.parseInt(card, 16)) : undefined
}

const CARD = 7

/** The first digit of a state of eight digits, behind the distance and the time of running. */
function satellitesOf(rest: string): number | undefined {
  const [, digit] = /^[^,]*,[^,]*,([0-9A-F])[0-9A-F]{7},/.exec(rest) ?? []
  return digit === undefined ? undefined : Number.parseInt(digit, 16)
}

function motionOf(r: TextReader): Partial<Fix> {
  const speed = r.optionalNumber()
  const course = heading(r.optionalNumber())
  return { speed: speed === undefined ? undefined : kmh(speed), heading: course, altitude: r.optionalNumber() }
}

function asset(r: TextReader): Message {
  const time = utcYmd(r.skip().next())
  const battery = said({ battery_voltage: r.skip().optionalNumber(), battery_percent: r.optionalNumber() })
  if (r.skip().next() !== '0') return { none: 'wifi', said: battery }
  const valid = r.next() === 'A'
  const speed = r.optionalNumber()
  const satellites = r.optionalNumber()
  const latitude = r.numberOrEmpty()
  const longitude = r.numberOrEmpty()
  if (latitude === undefined || longitude === undefined) return { none: 'no fix', said: battery }
  return { fixes: [{ time, valid, speed: speed && kmh(speed), satellites, latitude, longitude, said: battery }] }
}

function answer(device: string, number: string, now: number): Buffer {
  const content = `,${device},${number},A03,${digitsOfTime(now)}`
  const text = `##${content.length}${content}`
  return new TextWriter().text(`${text}*`).hex(xorOfText(text), 2).text('\r\n').toBuffer()
}
