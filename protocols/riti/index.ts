/*
 * RITI. No specification is known: inferred from frames. TCP; a sentence of NMEA in a frame.
 *
 *   3B28 IIII xx LL … $GPRMC,… 00… 040404
 *
 *   I  device                     L  length of what follows the first 11 bytes
 *
 * Nothing is answered.
 */
import { lengthField, type Message, type Protocol, rmcFix, type Session } from '../kit/index.ts'

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
  const end = frame.indexOf('\r', start)
  const fix = rmcFix(frame.toString('latin1', start, end < 0 ? frame.length : end), session)
  return fix ? { device, fixes: [fix] } : { device, none: 'no fix' }
}
