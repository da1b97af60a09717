/*
 * Anytrek trailer trackers: no specification is known, inferred from frames. Little-endian. TCP, no checksum.
 *
 *   7878 LLLL TT 00 IIIIIIIIIIIIII xx xx BBBB xx YYMMDDhhmmss (bytes) s yyyyyyyy oooooooo SS CCCC … 0D0A
 *
 *   L  length without it and the two marks     T  30     I  IMEI without its check digit, packed decimals
 *   s  satellites, bits 3–0     y, o  1/30,000 minutes     S  km/h     B  battery, 0.01 V
 *   C  bits 9–0 course, degrees; bit 10 north, 11 west, 12 fix
 *
 * Answer: 7878 0700 30 00{6} 0D0A
 */
import { ByteReader, concoxFix, enveloped, lengthField, type Message, type Protocol, said } from '../kit/index.ts'

export default {
  name: 'anytrek',
  devices: 'Anytrek trailer trackers',
  acknowledges: 'fixes',
  tcp: {
    port: 5177,
    frame: lengthField({ start: 'xx', at: 2, width: 2, endian: 'little', add: 6, end: '\r\n', most: 1024 }),
  },
  decode,
} satisfies Protocol

const POSITION = 0x30
const ACK = Buffer.from('78780700300000000000000d0a', 'hex')

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const type = r.skip(4).u8()
  const device = r.skip(1).bcd(7)
  if (type !== POSITION) return { device }
  return enveloped({ device, reply: ACK }, () => {
    const power = said({ battery_voltage: r.skip(2).u16le() / 100 })
    return { fixes: [{ ...concoxFix(r.skip(1), 'little'), said: power }] }
  })
}
