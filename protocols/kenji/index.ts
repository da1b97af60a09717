/*
 * Kenji trackers. No specification is known: inferred from one frame. TCP, lines, fields named by letters, always in this order:
 *
 *   >CI,Mx,Oo,Ii,Dhhmmss,A,NY,EO,TS,HC,YDDMMYY,Gs*XX
 *
 *   I  id     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots     C  degrees     s  satellites     X  a sum that is not known
 *
 * Nothing is answered.
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'kenji',
  devices: 'Kenji trackers',
  integrity: { none: 'which sum the two digits at the end are is not known' },
  port: 5102,
  lines: [
    {
      like: '>C{id},M{any},O{any},I{any},D{hhmmss},{valid},{ns}{latNmea},{ew}{lonNmea},T{speedKnots},H{course},Y{dmy},G{satellites}[*{any}]',
    },
    { like: '>C{id},{any}', unknown: 'type' },
  ],
})
