/*
 * Trakmate TM trackers. No specification is known: inferred from frames. TCP, text:
 *
 *   ^TMPER|I|n|Y|O|hhmmss|DDMMYY|S|C|A|x|x|x|b|u|x|x|i|…#     periodic position
 *   ^TMSTP|I|n|Y|O|hhmmss|DDMMYY|S|C|s|A|x|x|u|…#             status with a position
 *   ^TMALT|I|n|t|v|Y|O|hhmmss|DDMMYY|S|C|#          alarm, ^TMSRT|I|Y|O|hhmmss|DDMMYY|…# start: last known places
 *
 *   I  IMEI     n  index     Y, O  decimal degrees     S  knots     C  degrees     s  satellites     A  1: valid
 *   u  power from outside, V     b  battery, V     i  1: ignition
 *
 * Nothing is answered.
 */
import { type Draft, endsWith, type Fix, type Session, textProtocol } from '../kit/index.ts'

const PLACE = '{lat}|{lon}|{hhmmss}|{dmy}'

const PERIODIC = `^TMPER|{imei}|{any}|${PLACE}|{speedKnots}|{course}|{valid}`
const STATUS = `^TMSTP|{imei}|{any}|${PLACE}|{speedKnots}|{course}|{satellites}|{valid}`

export default textProtocol({
  name: 'trakmate',
  devices: 'Trakmate TM',
  port: 5127,
  frame: endsWith('#'),
  ends: '#',
  lines: [
    { like: `${PERIODIC}|{any:3}|{batteryVolts}|{externalVolts}|{any:2}|{ignition}|{any}` },
    { like: `${PERIODIC}|{any}` },
    { like: `${STATUS}|{any:2}|{externalVolts}|{any}` },
    { like: `${STATUS}|{any}` },
    { like: `^TMALT|{imei}|{any}|{any}|{any}|${PLACE}|{speedKnots}|{course}|{any}`, fix: lastKnown },
    { like: `^TMSRT|{imei}|${PLACE}|{any}`, fix: lastKnown },
    { like: '^TM{any}|{imei}|{any}', unknown: 'type' },
    { like: '^TM{any}', unknown: 'type' },
  ],
})

function lastKnown(draft: Draft, session: Session): Fix | undefined {
  draft.valid = false
  return draft.fix(session)
}
