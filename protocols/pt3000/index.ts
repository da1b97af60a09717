/*
 * PT3000 and clones. No specification is known: inferred from frames. TCP, an NMEA sentence in an envelope:
 *
 *   %I,$GPRMC,hhmmss.sss,A,Y,N,O,E,S,C,DDMMYY,…,p,…d
 *
 *   I  IMEI     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots     C  degrees     p  phone number
 *
 * Nothing is answered.
 */
import { endsWith, RMC, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'pt3000',
  devices: 'PT3000',
  port: 5045,
  frame: endsWith('d'),
  lines: [{ like: `%{imei},$GPRMC,${RMC}[,{any}]` }, { like: '%{imei},{any}', unknown: 'type' }],
})
