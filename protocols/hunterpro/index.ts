/*
 * HunterPro trackers: an NMEA sentence behind an id, TCP, text that ends with a carriage return. No specification is known:
 * inferred from one frame.
 *
 *   >I<$GPRMC,hhmmss,A,Y,N,O,E,S,C,DDMMYY,…
 *
 *   I  id     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots     C  degrees     Nothing is answered.
 */
import { endsWith, RMC, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'hunterpro',
  devices: 'HunterPro',
  port: 5116,
  frame: endsWith('\r'),
  lines: [{ like: `>{id}<$GPRMC,${RMC}{any}` }, { like: '>{id}<{any}', unknown: 'type' }],
})
