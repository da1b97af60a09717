/*
 * Meitrack T622 over Iridium: short burst data, as the Iridium gateway pushes it ("Iridium Short Burst Data Service
 * Developers Guide", DirectIP) with a payload that the device is set up to send. TCP, big-endian.
 *
 *   01 LLLL element…
 *   element 01 LLLL  xxxxxxxx IMEI(15) xx xxxx xxxx TTTTTTTT
 *   element 02 LLLL  the fields that the setting `format` of the device names ("01,02,03,04,05,08"), little-endian:
 *
 *   01  event, 1 byte        03  longitude, 1e-6°              05  1: fix         07  GSM signal   09  degrees     0B  metres
 *   02  latitude, 1e-6°      04  seconds since 2000, UTC       06  satellites     08  km/h         0A  HDOP, 0.1
 *
 * The fields are those of the records of `meitrack`, in whose order they are numbered; others are not known. Without `format` the payload cannot be read; it is stored to be read later. Nothing is answered.
 */
import {
  type Alarm,
  alarmsOf,
  ByteReader,
  dop,
  enveloped,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  said,
  secondsSince,
  tlv,
} from '../kit/index.ts'

export default {
  name: 't622iridium',
  devices: 'Meitrack T622 with an Iridium modem',
  tcp: { port: 5248, frame: lengthField({ start: 0x01, at: 1, width: 2, add: 3 }) },
  decode,
} satisfies Protocol

const HEADER = 1
const PAYLOAD = 2
const timeOf = secondsSince(2000)
/** Events of Meitrack's GPRS protocol: SOS, battery low, supply low, back and cut, GPS antenna cut, towed, jammed. */
const EVENTS = new Map<number, Alarm>([
  [1, 'sos'],
  [17, 'low_battery'],
  [18, 'low_power'],
  [22, 'power_restored'],
  [23, 'power_cut'],
  [28, 'gps_antenna_cut'],
  [36, 'tow'],
  [44, 'jamming'],
])
/** What reads the fields, by name. */
const FIELDS: Readonly<Record<string, ((r: ByteReader) => number) | undefined>> = {
  '01': (r) => r.u8(),
  '02': (r) => r.i32le(),
  '03': (r) => r.i32le(),
  '04': (r) => r.u32le(),
  '05': (r) => r.u8(),
  '06': (r) => r.u8(),
  '07': (r) => r.u8(),
  '08': (r) => r.u16le(),
  '09': (r) => r.u16le(),
  '0A': (r) => r.u16le(),
  '0B': (r) => r.i16le(),
}

function decode(frame: Buffer, session: Session): Message {
  let device: string | undefined
  for (const { tag, value } of tlv(new ByteReader(frame).skip(3), { tag: 1, length: 2 })) {
    if (tag === HEADER) device = value.skip(4).ascii(15)
    if (tag === PAYLOAD) return enveloped({ device }, () => payloadOf(value, session.settingsOf(device).format))
  }
  return { device, none: 'status' }
}

/** Fields behind one whose length is not known are not read. */
function payloadOf(r: ByteReader, format: unknown): Pick<Message, 'fixes'> {
  if (typeof format !== 'string') return { fixes: [] }
  const values = new Map<string, number>()
  for (const field of format.toUpperCase().split(',')) {
    const read = FIELDS[field]
    if (!read) break
    values.set(field, read(r))
  }
  const [latitude, longitude, seconds] = [values.get('02'), values.get('03'), values.get('04')]
  if (latitude === undefined || longitude === undefined || seconds === undefined) return { fixes: [] }
  const [speed, hdop] = [values.get('08'), values.get('0A')]
  const fix = {
    time: timeOf(seconds),
    latitude: latitude / 1e6,
    longitude: longitude / 1e6,
    valid: (values.get('05') ?? 1) === 1,
    satellites: values.get('06'),
    speed: speed === undefined ? undefined : kmh(speed),
    heading: heading(values.get('09')),
    hdop: hdop === undefined ? undefined : dop(hdop / 10),
    altitude: values.get('0B'),
    said: said({ alarms: alarmsOf(EVENTS.get(values.get('01') ?? 0)) }),
  }
  return { fixes: [fix] }
}
