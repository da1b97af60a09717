/*
 * Pricol trackers: no specification is known: inferred from frames. Big-endian, 64 bytes.
 *
 *   3C IIIIIIIIIIIIII T 4 bytes DD MM YY hh mm ss AAAA aaaa N OOOOOO oooo E V … 3E
 *
 *   I  id, seven characters      A, O  latitude, longitude, ddmm, a, o  decimals of the minutes; N, E  letters
 *   T  type                      V  speed, km/h
 *
 * Answer: ACK. A date of zeros: no fix.
 */
import {
  ByteReader,
  DecodeError,
  degreesMinutes,
  enveloped,
  fixedLength,
  kmh,
  type Message,
  type Protocol,
  utc,
} from '../kit/index.ts'

const frame = fixedLength(64, '<')

export default {
  name: 'pricol',
  devices: 'Pricol trackers',
  acknowledges: 'fixes',
  tcp: { port: 5134, frame },
  udp: { port: 5134, frame },
  decode,
} satisfies Protocol

const ACK = Buffer.from('ACK')

function decode(bytes: Buffer): Message {
  const r = new ByteReader(bytes)
  if (r.ascii(1) !== '<' || bytes.at(-1) !== 0x3e)
    throw new DecodeError('unsupported', 'the frame does not stand in < and >')
  const device = r.ascii(7)
  if (!/^\w{7}$/.test(device)) throw new DecodeError('malformed', 'there is no id')
  const [day, month, year] = [r.skip(5).u8(), r.u8(), r.u8()]
  if (day === 0 && month === 0) return { device, none: 'no fix', reply: ACK }
  return enveloped({ device, reply: ACK }, () => {
    const time = utc(year, month, day, r.u8(), r.u8(), r.u8())
    const latitude = angle(r, 2)
    const longitude = angle(r, 3)
    return { fixes: [{ time, latitude, longitude, valid: true, speed: kmh(r.u8()) }] }
  })
}

function angle(r: ByteReader, width: 2 | 3): number {
  const degrees = degreesMinutes(r.uint(width) + r.u16() / 1e4)
  return 'SW'.includes(r.ascii(1)) ? -degrees : degrees
}
