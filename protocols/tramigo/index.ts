/*
 * Tramigo T22, T23, T24 and newer. No specification is known: inferred from frames. TCP, numbers little-endian unless said.
 *
 *   80 00 NNNN xxxx LLLL xxxx xxxx IIIIIIII TTTTTTTT text             answer: gprs,ack,<N>
 *   04 LLLL CCCC NNNN IIIIIIIIIIIIIIII TTTTTTTT records               answer: 04 1800 CCCC NNNN I… T… FF NNNN 0000
 *
 *   N  number, big-endian in the first kind     I  id, big-endian in the first kind; in the second an IMEI: 8 digits
 *   L  length of the frame                         in the first half, 7 in the second
 *   T  unix seconds                             C  in the answer CRC-16/IBM-3740 of it, with C itself 0. The C of no known
 *                                                  frame is one: what it covers is not known, and it is not checked
 *
 * The text is made for people: "<name>: <event>, <landmark>, <latitude>, <longitude>[, NE with speed 9 km/h], <local time> EOF".
 * The event "Ignition on detected", or off, is said. Its local time has no year; the time of the fix is T. What the records of the second kind hold is not known.
 */
import {
  ByteReader,
  ByteWriter,
  crc16CcittFalse,
  dialects,
  type Fix,
  kmh,
  lengthField,
  type Message,
  mph,
  number,
  type Protocol,
  said,
  enveloped,
} from '../kit/index.ts'

const wire = dialects([
  { when: 0x80, frame: lengthField({ start: 0x80, at: 6, width: 2, endian: 'little', add: 0 }), decode: text },
  { when: 0x04, frame: lengthField({ start: 0x04, at: 1, width: 2, endian: 'little', add: 0 }), decode: binary },
])

export default {
  name: 'tramigo',
  devices: 'Tramigo T22, T23, T24',
  acknowledges: 'fixes',
  integrity: { none: 'of the messages of text; what that of the others covers is not known' },
  tcp: { port: 5073, frame: wire.frame },
  decode: wire.decode,
} satisfies Protocol

const PLACE =
  /(-?\d{1,2}\.\d{3,8}), (-?\d{1,3}\.\d{3,8})(?:, ([NESWO]{1,3}) \p{L}{1,20} \p{L}{1,20} (\d{1,3}) (km\/h|mph))?/u
/** O is west in some languages and east in others: no course is read of it. */
const POINTS = ['N', 'NNE', 'NE', 'ENE', 'E', 'ESE', 'SE', 'SSE', 'S', 'SSW', 'SW', 'WSW', 'W', 'WNW', 'NW', 'NNW']
const POINT = 22.5

const IGNITION = /: Ignition (on|off) detected,/

function text(frame: Buffer): Message {
  const r = new ByteReader(frame).skip(2)
  const serial = r.u16()
  const device = String(r.skip(8).u32())
  return enveloped({ device, reply: Buffer.from(`gprs,ack,${serial}`) }, () => {
    const time = r.u32le() * 1000
    const words = r.ascii(r.left)
    const [, ignition] = IGNITION.exec(words) ?? []
    const beside = said({ ignition: ignition === undefined ? undefined : ignition === 'on' })
    const fix = placeOf(words, time)
    return fix ? { fixes: [{ ...fix, said: beside }] } : { none: 'no place', said: beside }
  })
}

function placeOf(words: string, time: number): Fix | undefined {
  const match = PLACE.exec(words)
  if (!match) return undefined
  const [, latitude, longitude, point, speed, unit] = match
  const course = POINTS.indexOf(point ?? '')
  return {
    time,
    latitude: number(latitude),
    longitude: number(longitude),
    valid: true,
    speed: speed === undefined ? undefined : (unit === 'mph' ? mph : kmh)(number(speed)),
    heading: course < 0 ? undefined : course * POINT,
  }
}

function binary(frame: Buffer): Message {
  const r = new ByteReader(frame).skip(5)
  const index = r.slice(2)
  const id = r.slice(8)
  const digits = (at: number, length: number) => String(id.readUInt32LE(at)).padStart(length, '0')
  return { device: digits(0, 8) + digits(4, 7), reply: acknowledgement(index, id, r.slice(4)) }
}

function acknowledgement(index: Buffer, id: Buffer, time: Buffer): Buffer {
  const reply = new ByteWriter().u8(0x04).u16le(24).u16(0).bytes(index).bytes(id).bytes(time)
  const bytes = reply.u8(0xff).bytes(index).u16(0).toBuffer()
  bytes.writeUInt16LE(crc16CcittFalse(bytes), 3)
  return bytes
}
