/*
 * Solar powered trackers. No specification is known: inferred from frames. TCP, big-endian.
 *
 *   7E IIIIIIIIIIIIIIII KK LLLL (tag length value)… CC 7E
 *   value of the tag 81   ff YYMMDDhhmmss AAAAAAAA OOOOOOOO SS xx VV HH
 *
 *   I  IMEI, packed decimals, and one digit more      A, O  1e-6°        S  km/h      H  degrees
 *   L  length of the tagged values                    f  bits: 1 fix, 2 north, 4 west
 *   C  XOR from I on
 *
 *   V  own battery, 0.02 V (inferred: 3.7 to 4.1 V in the frames)
 *   tag 82   SSSS     its bit 1: the supply is low (inferred)
 *
 * Nothing is answered. The bits of f are inferred from fixes in the south and east alone; a heading above 255 was not seen.
 */
import {
  alarmsOf,
  ByteReader,
  bytesYmd,
  eachReadable,
  enveloped,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  said,
  tlv,
  verified,
  xor,
} from '../kit/index.ts'

export default {
  name: 'solarpowered',
  devices: 'solar powered trackers that frame with 7E',
  integrity: { checksum: 'XOR', covers: [1, -2] },
  tcp: { port: 5201, frame: lengthField({ start: 0x7e, at: 10, width: 2, add: 14, end: 0x7e }) },
  decode,
} satisfies Protocol

const [POSITION, STATE] = [0x81, 0x82]
const LOW_POWER = 2
const VALID = 1
const NORTH = 2
const WEST = 4

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: xor, from: 1, width: 1, trailing: 1 }, session))
  const device = r.bcd(8).slice(0, 15)
  r.skip(3)
  const values = [...tlv(r, { tag: 1, length: 1 })]
  const places = values.filter(({ tag }) => tag === POSITION)
  const state = values.find(({ tag, value }) => tag === STATE && value.left >= 2)?.value.u16() ?? 0
  if (places.length === 0) return { device }
  return enveloped({ device }, () => {
    const { good, unreadable } = eachReadable(places, ({ value }) => positionOf(value, state))
    return { fixes: good, unreadable }
  })
}

function positionOf(r: ByteReader, state: number) {
  const flags = r.u8()
  const time = bytesYmd(r)
  const latitude = (r.u32() / 1e6) * (flags & NORTH ? 1 : -1)
  const longitude = (r.u32() / 1e6) * (flags & WEST ? -1 : 1)
  const speed = kmh(r.u8())
  const says = said({
    battery_voltage: r.skip(1).u8() / 50,
    alarms: alarmsOf((state & LOW_POWER) !== 0 && 'low_power'),
  })
  return { time, latitude, longitude, valid: (flags & VALID) !== 0, speed, heading: heading(r.u8()), said: says }
}
