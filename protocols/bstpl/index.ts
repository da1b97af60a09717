/*
 * BSTPL-17 (Black Stone Tech, India). No specification is known: inferred from frames. TCP, text that ends with #:
 *
 *   BSTPL$1,I,A,DDMMYY,hhmmss,Y,N,O,E,S,x,C,s,…#
 *
 *   I  IMEI or id     A  A: valid, V: not     Y, O  decimal degrees; N, E are 0 without a fix     S  km/h     C  degrees     s  satellites
 *
 * Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'bstpl',
  devices: 'BSTPL-17',
  port: 5241,
  frame: endsWith('#'),
  ends: '#',
  fields: { ns: { like: '[NS0]' }, ew: { like: '[EW0]' } },
  lines: [
    {
      like: 'BSTPL$1,{id},{valid},{dmy},{hhmmss},{lat},{ns},{lon},{ew},{speedKmh},{any},{course},{satellites},{any}',
    },
    { like: 'BSTPL${any},{id},{any}', unknown: 'type' },
  ],
})
