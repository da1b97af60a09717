/*
 * OKO trackers (Ukraine). No specification is known: inferred from frames. TCP, text; the first frame of a connection has the id:
 *
 *   {[I,]hhmmss.sss,A,Y,N,O,E,S,C,DDMMYY,s,…}
 *
 *   I  IMEI     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots     C  degrees     s  satellites
 *
 * Nothing is answered.
 */
import { between, textProtocol } from '../kit/index.ts'

const PLACE = '{hms},{valid},{latNmea},{ns},{lonNmea},{ew},{speedKnots},{course},{dmy}[,{satellites}[,{any}]]'

export default textProtocol({
  name: 'oko',
  devices: 'OKO trackers',
  port: 5152,
  frame: between('{', '}'),
  ends: '}',
  lines: [
    { like: `\\{{imei},${PLACE}` },
    { like: `\\{${PLACE}` },
    { like: '\\{[{imei},]{hms},{valid},,,,,{any}', none: 'no fix' },
    { like: '\\{[{imei},]{any}', unknown: 'type' },
  ],
})
