/*
 * AVL301: no specification is known, inferred from frames. Big-endian. TCP.
 *
 *   244C LL IIIIIIIIIIIIIIII … 0D0A                       login ($L): 0 and the IMEI
 *   2448 LL … 0D0A                                        heartbeat ($H); answer $H#\r\n
 *   2424 LL YYMMDDhhmmss (bytes) s F yyyyyyyy oooooooo SS CCCC x{6} V … 0D0A       position
 *
 *   L  length of all     s  satellites     F  bit 0 fix, bit 1 north, bit 2 east
 *   y, o  1e-4 minutes   S  km/h           C  degrees        V  external voltage, V
 */
import {
  ByteReader,
  bytesYmd,
  DecodeError,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  said,
} from '../kit/index.ts'

export default {
  name: 'avl301',
  devices: 'AVL301',
  tcp: { port: 5085, frame: lengthField({ start: ['$L', '$H', '$$'], at: 2, width: 1, add: 0, end: '\r\n' }) },
  decode,
} satisfies Protocol

/** Bytes between the course and the voltage. */
const BEFORE_VOLTAGE = 6
/** Bytes of 0D0A. */
const END = 2
const ALIVE = Buffer.from('$H#\r\n')

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const kind = r.ascii(2)
  r.skip(1)
  if (kind === '$L') return { device: r.bcd(8).replace(/^0/, ''), none: 'login' }
  if (kind === '$H') return { none: 'heartbeat', reply: ALIVE }
  if (kind !== '$$') throw new DecodeError('unsupported')
  return { fixes: [fixOf(r)] }
}

function fixOf(r: ByteReader): Fix {
  const time = bytesYmd(r)
  const satellites = r.u8()
  const flags = r.u8()
  const latitude = r.u32() / 600_000
  const longitude = r.u32() / 600_000
  const speed = kmh(r.u8())
  const course = heading(r.u16())
  const voltage = r.left > BEFORE_VOLTAGE + END ? r.skip(BEFORE_VOLTAGE).u8() : 0
  return {
    time,
    latitude: flags & 2 ? latitude : -latitude,
    longitude: flags & 4 ? longitude : -longitude,
    valid: (flags & 1) !== 0,
    speed,
    heading: course,
    satellites,
    said: voltage > 0 ? said({ external_voltage: voltage }) : undefined,
  }
}
