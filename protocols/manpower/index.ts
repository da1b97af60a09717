/*
 * ManPower trackers. No specification is known: inferred from frames. TCP, text:
 *
 *   simei:I,,,E,x,x,x,YYMMDDhhmmss,A,Y,N,O,E,S,…;
 *
 *   I  IMEI     A  A: valid, V: not        N, E  hemispheres
 *   E  event    Y, O  ddmm.mmmm            S  knots
 *
 * Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'manpower',
  devices: 'ManPower trackers',
  port: 5042,
  frame: endsWith(';'),
  ends: ';',
  lines: [
    { like: 'simei:{imei},{any:6},{ymd}{hhmmss},{valid},{latNmea},{ns},{lonNmea},{ew},{speedKnots}[,{any}]' },
    { like: 'simei:{imei},{any}', unknown: 'type' },
  ],
})
