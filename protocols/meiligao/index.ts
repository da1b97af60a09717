/*
 * Meiligao (later Meitrack) GT30i, GT60, VT300, VT310, VT400 and clones of them: "Meiligao GPRS Communication Protocol"
 * V2.4. Big-endian; the data of a report is text.
 *
 *   $$ LLLL IIIIIIIIIIIIII TTTT data CCCC 0D 0A
 *
 *   L  length of the whole frame      T  type      C  CRC-16/CCITT-FALSE of everything before it
 *   I  id, packed decimals, filled up with F
 *
 *   9955  hhmmss.sss,A,ddmm.mmmm,N,dddmm.mmmm,E,knots,course,ddmmyy[,,…*cs]|HDOP|altitude, m|state|AD|cell|CSQ|km|satellites (hex)
 *   9999  the alarm, one byte, then the same       6688  a count, then records divided by "\": a byte, then the same
 *   9966  60 bytes of sensors, of which the first four are the driver's card, "|", then hhmmss,ddmmyy,ddmm.mmmm,N,dddmm.mmmm,E
 *   5000  login; answer: @@ LLLL I 4000 01 CCCC 0D 0A        0800, 9988  pictures        9903  RFID
 *
 * 6688, 9966, 9903 and the pictures are of clones: inferred from frames. Reports are not answered, pictures not asked for.
 */
import {
  type Alarm,
  alarmsOf,
  ByteReader,
  ByteWriter,
  between,
  crc16CcittFalse,
  DecodeError,
  degreesMinutes,
  dialects,
  dop,
  eachReadable,
  enveloped,
  type Fix,
  heading,
  knots,
  lengthField,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  type Session,
  said,
  utc,
  verified,
} from '../kit/index.ts'

/** Clones that write 0 for the length end their frames all the same. */
const framing = dialects([
  { when: '$$\0\0', frame: between('$$', '\r\n') },
  { when: '$$', frame: lengthField({ start: '$$', at: 2, width: 2, add: 0, end: '\r\n' }) },
])

export default {
  name: 'meiligao',
  devices: 'Meiligao GT30i, GT60, VT300, VT310, VT400, VT600 and clones',
  integrity: { checksum: 'CRC-16/CCITT-FALSE', covers: [0, -4] },
  tcp: { port: 5009, frame: framing.frame },
  udp: { port: 5009, frame: framing.frame },
  decode,
} satisfies Protocol

const LOGIN = 0x5000
const LOGIN_ANSWER = 0x4000
const REPORT = 0x9955
const ALARM = 0x9999
const RECORDS = 0x6688
const SENSORS = 0x9966
/** The alarms of the list that the document lists for 9999 and the kit has, by their byte. */
const ALARMS: Readonly<Record<number, Alarm | undefined>> = {
  0x01: 'sos',
  0x10: 'low_battery',
  0x12: 'movement',
  0x50: 'power_cut',
  0x53: 'gps_antenna_cut',
}
/** Types of a clone that hold no position. */
const NONE = new Map([
  [0x0800, 'photo'],
  [0x9988, 'photo'],
  [0x9903, 'status'],
])
const RECORD_SEPARATOR = '\\'

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc16CcittFalse, from: 0, width: 2, trailing: 2 }, session))
  if (r.ascii(2) !== '$$') throw new DecodeError('unsupported', 'the frame does not begin with $$')
  const id = r.skip(2).hex(7)
  const device = id.replace(/f.*$/, '')
  if (!/^\d+$/.test(device)) throw new DecodeError('malformed', `"${id}" is no id`)
  const type = r.u16()
  if (type === LOGIN) return { device, none: 'login', reply: loginAnswer(id) }
  return enveloped({ device }, () => contentOf(type, r))
}

function contentOf(type: number, r: ByteReader): Message {
  if (type === REPORT) return report(textOf(r))
  if (type === ALARM) return report(textOf(r.ahead(1)), ALARMS[r.u8()])
  if (type === RECORDS) return records(textOf(r.skip(1)))
  if (type === SENSORS) return afterSensors(r.ahead().u32(), textOf(r))
  const fix = NONE.has(type) ? undefined : nearFix(textOf(r))
  return fix ? { fixes: [fix] } : { none: NONE.get(type) }
}

const textOf = (r: ByteReader): string => r.slice().toString('latin1')

/** The fix of a type that is not known, which may have a byte or some in front of it. */
function nearFix(text: string): Fix | undefined {
  for (let before = 0; before <= MOST_BEFORE; before++) {
    const fix = fixOf(text.slice(before))
    if (fix) return fix
  }
  return undefined
}

const MOST_BEFORE = 4

function loginAnswer(id: string): Buffer {
  const answer = new ByteWriter().ascii('@@').u16(18).hex(id).u16(LOGIN_ANSWER).u8(1)
  return answer.crc16(crc16CcittFalse).ascii('\r\n').toBuffer()
}

/** A report; `fixes: []` of another layout. */
function report(text: string, alarm?: Alarm): Message {
  const fix = fixOf(text, alarm)
  if (fix) return { fixes: [fix] }
  return NO_PLACE.test(text) ? { none: 'no place', said: said({ alarms: alarmsOf(alarm) }) } : { fixes: [] }
}

/** A report without a fix may leave latitude and longitude out. */
const NO_PLACE = /^[\d.]*,V,,[NS]?,,[EW]?,/

function records(text: string): Message {
  const texts = text.split(RECORD_SEPARATOR).filter((each) => each !== '')
  const { good, unreadable } = eachReadable(
    texts,
    (each) => fixOf(each.slice(1)),
    (fix) => fix === undefined,
  )
  return texts.length > 0 ? { fixes: good.filter((fix) => fix !== undefined), unreadable } : { none: 'no place' }
}

const RMC =
  /^(\d{1,2})(\d\d)(\d\d)[\d.]*,([AV]),([\d.]+),([NS]),([\d.]+),([EW]),([^,]{0,20}),([^,]{0,20}),(\d\d)(\d\d)(\d\d)/

function fixOf(text: string, alarm?: Alarm): Fix | undefined {
  const match = RMC.exec(text)
  if (!match) return undefined
  const [, hour, minute, second, flag, latitude, ns, longitude, ew, speed, course, day, month, year] = match
  const [, hdop, altitude] = text.split('|', 3)
  const satellites = SATELLITES.exec(text)?.[1]
  return {
    time: utc(+year, +month, +day, +hour, +minute, +second),
    ...place(latitude, ns, longitude, ew),
    valid: flag === 'A',
    speed: optionalNumber(speed, knots),
    heading: heading(optionalNumber(course)),
    altitude: optionalNumber(altitude),
    hdop: dop(optionalNumber(hdop)),
    satellites: satellites === undefined ? undefined : Number.parseInt(satellites, 16),
    said: said({ alarms: alarmsOf(alarm), driver: CARD.exec(text)?.[1] }),
  }
}

/** The card of a clone, behind the odometer in decimal digits; others have a longer id of a cell there. */
const CARD = /^[^|]*\|[^|]*\|[^|]*\|[^|]*\|[^|]*\|\d{1,10}\|([\dA-Fa-f]+)$/

/** Behind the odometer, which some devices have further fields in front of. */
const SATELLITES = /\|[0-9a-f]{8}\|([0-9a-f]{2})(?:\||$)/i

function afterSensors(card: number, text: string): Message {
  const match = SHORT.exec(text.slice(text.lastIndexOf('|') + 1))
  if (!match) return { fixes: [] }
  const [, hour, minute, second, day, month, year, latitude, ns, longitude, ew] = match
  const time = utc(+year, +month, +day, +hour, +minute, +second)
  const driver = String(card).padStart(10, '0')
  return { fixes: [{ time, ...place(latitude, ns, longitude, ew), valid: true, said: said({ driver }) }] }
}

const SHORT = /^(\d\d)(\d\d)(\d\d),(\d\d)(\d\d)(\d\d),([\d.]+),([NS]),([\d.]+),([EW])/

function place(latitude: string, ns: string, longitude: string, ew: string): Pick<Fix, 'latitude' | 'longitude'> {
  return {
    latitude: degreesMinutes(number(latitude)) * (ns === 'S' ? -1 : 1),
    longitude: degreesMinutes(number(longitude)) * (ew === 'W' ? -1 : 1),
  }
}
