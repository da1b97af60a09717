/*
 * GPS056 (India): no specification is known, inferred from frames. Text with binary content. TCP, no checksum.
 *
 *   $$LLTYPE_vvIIIIIIIIIIIIIIIcontent#
 *
 *   L  length of what follows it without the # (decimal)     v  version     I  IMEI
 *   LOGN   login; answer *LGSA_vvI1#
 *   GPSL   DD MM YY hh mm ss dddd mmmm N dddd mmmm E SS CCCC … nn nn     position; answer *GPSA_vvI, the two bytes n, #
 *   SYNC, SYSL …   status; answer *SYSA_vvI#
 *
 *   d, m  latitude and longitude: degrees and minutes (ddmm), decimals of the minutes (1e-4); N, E  letters
 *   S  km/h     C  degrees
 */
import {
  ByteReader,
  bytesDmy,
  DecodeError,
  degreesMinutes,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
} from '../kit/index.ts'

export default {
  name: 'gps056',
  devices: 'GPS056',
  acknowledges: 'fixes',
  tcp: { port: 5141, frame: lengthField({ start: '$$', at: 2, width: 2, digits: 10, add: 5, end: '#' }) },
  decode,
} satisfies Protocol

const HEAD = /^\$\$\d\d([A-Z]{4})(_\d\d)(\d{15})/
const HEAD_LENGTH = 26
const SYNCHRONIZATION = new Set(['SYNC', 'SYSL'])

function decode(frame: Buffer): Message {
  const head = HEAD.exec(frame.toString('latin1', 0, HEAD_LENGTH))
  if (!head) throw new DecodeError(frame.length < HEAD_LENGTH ? 'truncated' : 'unsupported')
  const [, type, version, device] = head
  const answer = (name: string, rest: string) => Buffer.from(`*${name}${version}${device}${rest}#`, 'latin1')
  if (type === 'LOGN') return { device, none: 'login', reply: answer('LGSA', '1') }
  if (type === 'GPSL') {
    const number = frame.toString('latin1', frame.length - 3, frame.length - 1)
    return enveloped({ device, reply: answer('GPSA', number) }, () => ({
      fixes: [fixOf(new ByteReader(frame.subarray(HEAD_LENGTH)))],
    }))
  }
  return SYNCHRONIZATION.has(type) ? { device, none: 'status', reply: answer('SYSA', '') } : { device }
}

function fixOf(r: ByteReader): Fix {
  const time = bytesDmy(r)
  const latitude = degreesMinutes(r.u16() + r.u16() / 1e4)
  const isSouth = r.ascii(1) === 'S'
  const longitude = degreesMinutes(r.u16() + r.u16() / 1e4)
  const isWest = r.ascii(1) === 'W'
  return {
    time,
    latitude: isSouth ? -latitude : latitude,
    longitude: isWest ? -longitude : longitude,
    valid: true,
    speed: kmh(r.u8()),
    heading: heading(r.u16()),
  }
}
