/*
 * RoboTrack. No specification is known: inferred from frames. TCP, little-endian.
 *
 *   00 "ROBOTRACK" 00… IIIIIIIIIIIIIII … CC          login, 69 bytes; answer 80 01 CC
 *   03 TTTTTTTT AAAAAAAA OOOOOOOO SS xn … CC         position, 24 bytes
 *
 *   I  IMEI, text, from the 18th byte on      A, O  1e-6°       n  satellites
 *   T  unix seconds                           S     km/h        C  CRC-8 (07, FF) of all bytes before it
 */
import {
  ByteReader,
  ByteWriter,
  crc,
  dialects,
  fixedLength,
  kmh,
  type Message,
  type Protocol,
  type Session,
  verified,
} from '../kit/index.ts'

const wire = dialects([
  { when: '\0ROBOTRACK', frame: fixedLength(69), decode: login },
  { when: 0x03, frame: fixedLength(24), decode: position },
])

export default {
  name: 'robotrack',
  devices: 'RoboTrack',
  integrity: { checksum: 'CRC-8', covers: [1, -1] },
  tcp: { port: 5163, frame: wire.frame },
  decode: wire.decode,
} satisfies Protocol

const crc8 = crc({ width: 8, polynomial: 0x07, initial: 0xff, reflected: false, xorOut: 0 })

function login(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc8, from: 0, width: 1 }, session))
  const device = r.skip(17).imei()
  return { device, none: 'login', reply: new ByteWriter().u8(0x80).u8(0x01).sum(crc8).toBuffer() }
}

function position(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc8, from: 0, width: 1 }, session)).skip(1)
  const time = r.u32le() * 1000
  const latitude = r.i32le() / 1e6
  const longitude = r.i32le() / 1e6
  const speed = kmh(r.u8())
  const satellites = r.u8() & 0x0f
  return { fixes: [{ time, latitude, longitude, valid: satellites > 0, speed, satellites }] }
}
