/*
 * Swiftech trackers. No specification is known: inferred from frames. TCP, text:
 *
 *   @@I,x,x,hhmmss,Y,N,O,E,S,DDMMYY,A,…,#
 *
 *   I  IMEI     Y, O  ddmm.mmmm     S  knots     A  A: valid, V: not
 *
 * Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'swiftech',
  devices: 'Swiftech trackers',
  port: 5217,
  frame: endsWith('#'),
  ends: '#',
  lines: [
    { like: '@@{imei},{any:2},{hhmmss},{latNmea},{ns},{lonNmea},{ew},{speedKnots},{dmy},{valid}[,{any}]' },
    { like: '@@{imei},{any}', unknown: 'type' },
  ],
})
