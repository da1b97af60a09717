/*
 * Freematics ONE, ONE+, Esprit. Freematics Hub protocol, as the maker's firmware has it (github.com/stanleyhuangyc/Freematics). UDP, text:
 *
 *   F#k:v,k:v,…*XX      or with k=v: data; 0 begins the next record
 *   F#EV=e,TS=t,ID=I,…*XX              event: login (1), logout (2) and others
 *
 *   F  feed that a login was given, or the id     k  hexadecimal: A, B decimal degrees     10  time, hhmmss and hundredths
 *   I  id     X  sum of all before *              C  metres     D  km/h     E  degrees     11  date, DDMMYY
 *   t  device's clock                             F  satellites                            12  HDOP
 *                                                 24 battery of the vehicle, 0.01 V
 *
 * Answer to an event: 1#EV=e,RX=1,TS=t*XX. It gives every device the feed 1; the login of the peer says which device
 * that is. Data are not answered.
 */
import {
  DecodeError,
  dop,
  eachReadable,
  type Fix,
  heading,
  kmh,
  known,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  pairs,
  type Session,
  said,
  sum8,
  TextWriter,
  timeOfDayNear,
  trimEnd,
  utcDmy,
  verify,
} from '../kit/index.ts'

export default {
  name: 'freematics',
  devices: 'Freematics ONE, ONE+, Esprit',
  integrity: { checksum: 'sum8', covers: (frame) => [0, frame.lastIndexOf('*')] },
  udp: { port: 5170 },
  decode,
} satisfies Protocol

const FEED = '1'

function decode(frame: Buffer, session: Session): Message {
  const text = checked(trimEnd(frame).toString('latin1'), session)
  const hash = text.indexOf('#')
  if (hash < 0) throw new DecodeError('unsupported')
  const feed = text.slice(0, hash)
  const data = text.slice(hash + 1)
  const values = data.includes('EV=') ? pairs(data, ',', '=') : undefined
  const event = values?.get('EV')
  if (values && event !== undefined) return eventMessage(event, values)
  const device = feed === FEED && session.device !== undefined ? undefined : feed
  const records = recordsIn(data)
  const { good, unreadable } = eachReadable(records, (record) => fixOf(record, session.now))
  const fixes = good.filter((fix) => fix !== undefined)
  return fixes.length > 0
    ? { device, fixes, unreadable }
    : { device, none: 'no place', said: good.length > 0 ? saidOf(records[0]) : undefined, unreadable }
}

function checked(text: string, session: Session): string {
  const star = text.lastIndexOf('*')
  if (star < 0) throw new DecodeError('truncated')
  verify(sum8(Buffer.from(text.slice(0, star), 'latin1')) === Number.parseInt(text.slice(star + 1), 16), session)
  return text.slice(0, star)
}

function eventMessage(event: string, values: ReadonlyMap<string, string>): Message {
  const answer = new TextWriter().text(`${FEED}#EV=${event},RX=1,TS=${values.get('TS') ?? 0}`)
  const sum = sum8(answer.toBuffer())
  return {
    device: values.get('ID'),
    none: event === '1' ? 'login' : 'status',
    reply: answer.text('*').hex(sum, 1).toBuffer(),
  }
}

/** The values of each record, by their keys. */
function recordsIn(data: string): readonly ReadonlyMap<string, string>[] {
  let record = new Map<string, string>()
  const records = [record]
  for (const pair of data.split(',')) {
    const at = pair.search(/[:=]/)
    const key = at < 0 ? pair : pair.slice(0, at)
    if (key === '0' && record.size > 0) records.push((record = new Map()))
    record.set(key, at < 0 ? '' : pair.slice(at + 1))
  }
  return records
}

function fixOf(record: ReadonlyMap<string, string>, now: number): Fix | undefined {
  const valueOf = (key: string) => {
    const value = record.get(key)
    return value ? number(value) : undefined
  }
  const measured = (key: string) => optionalNumber(record.get(key))
  const latitude = valueOf('A')
  const longitude = valueOf('B')
  if (latitude === undefined || longitude === undefined) return undefined
  const speed = known(measured('D'))
  return {
    time: timeOf(record.get('10'), record.get('11'), now),
    latitude,
    longitude,
    valid: true,
    altitude: measured('C'),
    speed: speed === undefined ? undefined : kmh(speed),
    heading: heading(measured('E')),
    hdop: dop(measured('12')),
    satellites: known(measured('F')),
    said: saidOf(record),
  }
}

const saidOf = (record: ReadonlyMap<string, string>) =>
  said({ external_voltage: optionalNumber(record.get('24'), (value) => value / 100) })

/** Leading zeros are missing. */
function timeOf(time: string | undefined, date: string | undefined, now: number): number {
  if (time === undefined) return now
  const digits = time.padStart(8, '0')
  const clock = utcDmy('010100', digits.slice(0, 6)) - Date.UTC(2000, 0, 1) + number(digits.slice(6)) * 10
  return date === undefined ? timeOfDayNear(clock, now) : utcDmy(date.padStart(6, '0'), '000000') + clock
}
