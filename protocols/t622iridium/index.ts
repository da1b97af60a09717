/*
 * Meitrack T622 over Iridium: short burst data, as the Iridium gateway pushes it ("Iridium Short Burst Data Service
 * Developers Guide", DirectIP) with a payload that the device is set up to send. TCP, big-endian.
 *
 *   01 LLLL element…
 *   element 01 LLLL  xxxxxxxx IMEI(15) xx xxxx xxxx TTTTTTTT
 *   element 02 LLLL  the fields that the setting `format` of the device names ("01,02,03,04,05,08"), little-endian:
 *
 *   01  event, 1 byte        03  longitude, 1e-6°              05  1: fix         others: not known
 *   02  latitude, 1e-6°      04  seconds since 2000, UTC
 *
 * Without `format` the payload cannot be read; it is stored to be read later. Nothing is answered.
 */
import { ByteReader, lengthField, type Message, type Protocol, secondsSince, type Session, tlv } from '../kit/index.ts'

export default {
  name: 't622iridium',
  devices: 'Meitrack T622 with an Iridium modem',
  acknowledges: 'nothing',
  accuracy: 'none',
  integrity: { none: 'the specification has none' },
  escaping: 'none',
  tcp: { port: 5248, frame: lengthField({ start: 0x01, at: 1, width: 2, add: 3 }) },
  decode,
} satisfies Protocol

const HEADER = 1
const PAYLOAD = 2
const timeOf = secondsSince(2000)

function decode(frame: Buffer, session: Session): Message {
  let device: string | undefined
  for (const { tag, value } of tlv(new ByteReader(frame).skip(3), { tag: 1, length: 2 })) {
    if (tag === HEADER) device = value.skip(4).ascii(15)
    if (tag === PAYLOAD) return { device, ...payloadOf(value, session.settings.format) }
  }
  return { device, none: 'status' }
}

/** Fields behind one whose length is not known are not read. */
function payloadOf(r: ByteReader, format: unknown): Pick<Message, 'fixes'> {
  if (typeof format !== 'string') return { fixes: [] }
  const values = new Map<string, number>()
  for (const field of format.split(',')) {
    const width = field === '01' || field === '05' ? 1 : field === '02' || field === '03' || field === '04' ? 4 : 0
    if (width === 0) break
    values.set(field, width === 1 ? r.u8() : field === '04' ? r.u32le() : r.i32le())
  }
  const [latitude, longitude, seconds] = [values.get('02'), values.get('03'), values.get('04')]
  if (latitude === undefined || longitude === undefined || seconds === undefined) return { fixes: [] }
  const valid = (values.get('05') ?? 1) === 1
  return { fixes: [{ time: timeOf(seconds), latitude: latitude / 1e6, longitude: longitude / 1e6, valid }] }
}
