/*
 * Queclink GL601 and newer models in binary: no specification is known, inferred from frames. Big-endian. TCP, no answer.
 *
 *   KK 00 LLLL 00 IIIIIIIIIIIIIIII x{6} MM UUUUUUUU x{7} [P] …
 *
 *   K  2B, 2D: kind of report     L  length of all     I  0 and the IMEI     M  bit 0: a position follows
 *   U  unix seconds of the report; of M = 10 its battery follows, in mV (u16) and % (u8)
 *   P  longitude, latitude (1e-6 degrees), unix seconds, speed (u16, 0.1 km/h), HDOP (u8, 0.1), course (u16, degrees), altitude
 *      (i24, 0.1 m), satellites
 */
import { ByteReader, enveloped, lengthField, type Message, type Protocol, said, shortFix } from '../kit/index.ts'

export default {
  name: 'gl601',
  devices: 'Queclink GL601 in binary',
  integrity: { none: 'the kind of its last bytes is not known' },
  tcp: { port: 5257, frame: lengthField({ start: ['+\0', '-\0'], at: 2, width: 2, add: 0, most: 2048 }) },
  decode,
} satisfies Protocol

const HAS_POSITION = 0x01
const BATTERY_ALONE = 0x10

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const device = r.skip(5).bcd(8).replace(/^0/, '')
  const mask = r.skip(6).u8()
  return enveloped({ device }, () => {
    r.skip(11)
    if (mask & HAS_POSITION) return { fixes: [shortFix(r)] }
    return { none: 'no place', said: mask === BATTERY_ALONE && r.left >= 3 ? batteryIn(r) : undefined }
  })
}

function batteryIn(r: ByteReader): Message['said'] {
  return said({ battery_voltage: r.u16() / 1000, battery_percent: r.u8() })
}
