/*
 * T57 trackers. No specification is known: inferred from frames. TCP, text without an end:
 *
 *   *T57#F1#I#DDMMYY#hhmmss#Y#N#O#E#a#S#H#A2#b#     position; F2 alike
 *   *T57#F3#I#DDMMYY#hhmmss#Y#N#O#E#I#p#t#          call: kept as it is, since what the place means is not known
 *
 *   I  id     Y, O  ddmm.mmmm     a  acceleration     S  knots     H  metres     b  battery, V
 *
 * Nothing is answered.
 */
import { startsWith, textProtocol } from '../kit/index.ts'

const PLACE =
  '{id}#{dmy}#{hhmmss}#{latNmea}#{ns}#{lonNmea}#{ew}#{any}#{speedKnots}#{altitude}[#{any}#{batteryVolts}][#{any}]'

export default textProtocol({
  name: 't57',
  devices: 'T57',
  port: 5155,
  frame: startsWith('*T57'),
  lines: [{ like: `*T57#F1#${PLACE}` }, { like: `*T57#F2#${PLACE}` }, { like: '*T57#{any}', unknown: 'position' }],
})
