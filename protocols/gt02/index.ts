/*
 * Concox GT02, TR02, TR06 and clones: "GT02 communication protocol". Big-endian. TCP, no checksum.
 *
 *   6868 LL bb gg IIIIIIIIIIIIIIII SSSS TT content 0D0A
 *
 *   L  from b to before the end     b, g  level of the battery (6: highest), signal
 *   I  IMEI, packed decimals        S     serial number     T  type
 *   10  YYMMDDhhmmss (bytes) yyyyyyyy oooooooo SS CCCC x{3} FFFFFFFF      position
 *   1A  heartbeat; answer 5468 1A 0D0A                                    1C  answer to a command
 *
 *   y, o  1/30,000 minutes     S  km/h     C  degrees     F  bit 0 fix, bit 1 north, bit 2 east
 */
import {
  ByteReader,
  bytesYmd,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
} from '../kit/index.ts'

export default {
  name: 'gt02',
  devices: 'Concox GT02, TR02, TR06 and clones',
  tcp: { port: 5022, frame: lengthField({ start: 'hh', at: 2, width: 1, add: 5, end: '\r\n' }) },
  decode,
} satisfies Protocol

const POSITION = 0x10
const HEARTBEAT = 0x1a
const COMMAND = 0x1c
const ALIVE = Buffer.from([0x54, 0x68, 0x1a, 0x0d, 0x0a])

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const device = r.skip(5).bcd(8).replace(/^0/, '')
  const type = r.skip(2).u8()
  switch (type) {
    case POSITION:
      return enveloped({ device }, () => ({ fixes: [fixOf(r)] }))
    case HEARTBEAT:
      return { device, none: 'heartbeat', reply: ALIVE }
    case COMMAND:
      return { device, none: 'command answer' }
    default:
      return { device }
  }
}

function fixOf(r: ByteReader): Fix {
  const time = bytesYmd(r)
  const latitude = r.u32() / 1_800_000
  const longitude = r.u32() / 1_800_000
  const speed = kmh(r.u8())
  const course = heading(r.u16())
  const flags = r.skip(3).u32()
  return {
    time,
    latitude: flags & 2 ? latitude : -latitude,
    longitude: flags & 4 ? longitude : -longitude,
    valid: (flags & 1) !== 0,
    speed,
    heading: course,
  }
}
