/*
 * IDPL trackers (India). No specification is known: inferred from frames. TCP, lines:
 *
 *   *IDn,I,DDMMYY,hhmmss,A,Y,N,O,E,S,C,s,x,x,x,b,…,XXXX#
 *
 *   I  IMEI     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots     C  degrees     s  satellites     X  a sum that is not known
 *   b  own battery, V (inferred)
 *
 * Nothing is answered.
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'idpl',
  devices: 'IDPL trackers',
  integrity: { none: 'which sum the four digits at the end are is not known' },
  port: 5110,
  ends: '#',
  lines: [
    {
      like: '*ID{any},{imei},{dmy},{hhmmss},{valid},{latNmea},{ns},{lonNmea},{ew},{speedKnots},{course},{satellites},{any:3},{batteryVolts},{any}',
    },
    {
      like: '*ID{any},{imei},{dmy},{hhmmss},{valid},{latNmea},{ns},{lonNmea},{ew},{speedKnots},{course},{satellites},{any}',
    },
    { like: '*ID{any},{imei},{any}', unknown: 'type' },
  ],
})
