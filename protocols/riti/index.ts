/*
 * RITI. No specification is known: inferred from frames. TCP; a sentence of NMEA in a frame.
 *
 *   3B28 IIII xx LL VVVV … $GPRMC,… 00… 040404
 *
 *   I  device                     L  length of what follows the first 11 bytes
 *   V  external voltage, mV, little-endian (inferred)
 *
 * Nothing is answered.
 */
import { enveloped, lengthField, type Message, type Protocol, rmcFix, type Session, said } from '../kit/index.ts'

export default {
  name: 'riti',
  devices: 'RITI',
  integrity: { none: 'of the NMEA sentence alone' },
  tcp: { port: 5071, frame: lengthField({ start: ';(', at: 5, width: 1, add: 11, end: Buffer.from([4, 4, 4]) }) },
  decode,
} satisfies Protocol

function decode(frame: Buffer, session: Session): Message {
  const device = frame.length < 4 ? undefined : String(frame.readUInt16BE(2))
  const start = frame.indexOf('$GPRMC,')
  if (start < 0) return { device }
  return enveloped({ device }, () => {
    const power = start < 8 ? undefined : said({ external_voltage: frame.readUInt16LE(6) / 1000 })
    const end = frame.indexOf('\r', start)
    const fix = rmcFix(frame.toString('latin1', start, end < 0 ? frame.length : end), session)
    return fix ? { fixes: [{ ...fix, said: power }] } : { none: 'no fix', said: power }
  })
}
