/*
 * Swiftech trackers. No specification is known: inferred from frames. TCP, text:
 *
 *   @@I,x,x,hhmmss,Y,N,O,E,S,DDMMYY,A,x,p,…,#
 *
 *   I  IMEI     Y, O  ddmm.mmmm     S  knots     A  A: valid, V: not     p  1: it is being charged (inferred)
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
    {
      like: '@@{imei},{any:2},{hhmmss},{latNmea},{ns},{lonNmea},{ew},{speedKnots},{dmy},{valid},{any},{charging},{any}',
    },
    { like: '@@{imei},{any:2},{hhmmss},{latNmea},{ns},{lonNmea},{ew},{speedKnots},{dmy},{valid}[,{any}]' },
    { like: '@@{imei},{any}', unknown: 'type' },
  ],
})
