/*
 * Ennfu trackers. No specification is known: inferred from frames. TCP, text that ends with $:
 *
 *   Ennfu:I,hhmmss.ss,A,Y,N,O,E,S,C,DDMMYY,q,V,p,…$     position
 *   Ennfu:HeartBeat,I$                              heartbeat
 *
 *   I  IMEI     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots     C  degrees     q  signal     V, p  battery, V and %
 *
 * Nothing is answered.
 */
import { endsWith, RMC, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'ennfu',
  devices: 'Ennfu trackers',
  port: 5220,
  frame: endsWith('$'),
  ends: '$',
  fields: { signal: {} },
  lines: [
    { like: `Ennfu:{imei},${RMC}[,{signal}[,{batteryVolts}[,{batteryPercent}[,{any}]]]]` },
    { like: 'Ennfu:HeartBeat,{imei}', none: 'heartbeat' },
    { like: 'Ennfu:{any}', unknown: 'type' },
  ],
})
