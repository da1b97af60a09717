/*
 * Autograde trackers (India). No specification is known: inferred from frames. TCP, text in parentheses:
 *
 *   (nnnnnnnnnnnnIIIIIIIIIIIIIIIDDMMYYAYYYY.YYYYNOOOOO.OOOOESSSSShhmmssCCCCCCxA…K…)
 *
 *   I  IMEI     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots, five characters     C  degrees, six
 *
 * Nothing is answered. That the speed is in knots is a guess.
 */
import { between, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'autograde',
  devices: 'Autograde trackers',
  port: 5120,
  frame: between('(', ')'),
  ends: ')',
  fields: { number: { like: '\\d{12}' }, imei: { like: '\\d{15}' } },
  lines: [
    { like: '({number}{imei}{dmy}{valid}{latNmea:9}{ns}{lonNmea:10}{ew}{speedKnots:5}{hhmmss}{course:6}{any}' },
    { like: '({number}{imei}{any}', unknown: 'position' },
  ],
})
