/*
 * Trakmate TM trackers. No specification is known: inferred from frames. TCP, text:
 *
 *   ^TMPER|I|n|Y|O|hhmmss|DDMMYY|S|C|A|…#           periodic position
 *   ^TMSTP|I|n|Y|O|hhmmss|DDMMYY|S|C|s|A|…#         status with a position
 *   ^TMALT|I|n|t|v|Y|O|hhmmss|DDMMYY|S|C|#          alarm, ^TMSRT|I|Y|O|hhmmss|DDMMYY|…# start: last known places
 *
 *   I  IMEI     n  index     Y, O  decimal degrees     S  knots     C  degrees     s  satellites     A  1: valid
 *
 * Nothing is answered.
 */
import { type Draft, endsWith, type Fix, type Session, textProtocol } from '../kit/index.ts'

const PLACE = '{lat}|{lon}|{hhmmss}|{dmy}'

export default textProtocol({
  name: 'trakmate',
  devices: 'Trakmate TM',
  port: 5127,
  frame: endsWith('#'),
  ends: '#',
  lines: [
    { like: `^TMPER|{imei}|{any}|${PLACE}|{speedKnots}|{course}|{valid}|{any}` },
    { like: `^TMSTP|{imei}|{any}|${PLACE}|{speedKnots}|{course}|{satellites}|{valid}|{any}` },
    { like: `^TMALT|{imei}|{any}|{any}|{any}|${PLACE}|{speedKnots}|{course}|{any}`, fix: lastKnown },
    { like: `^TMSRT|{imei}|${PLACE}|{any}`, fix: lastKnown },
    { like: '^TM{any}', unknown: 'type' },
  ],
})

function lastKnown(draft: Draft, session: Session): Fix | undefined {
  draft.valid = false
  return draft.fix(session)
}
