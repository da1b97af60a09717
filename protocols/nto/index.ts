/*
 * NTO trackers. No specification is known: inferred from one frame. TCP, text:
 *
 *   ^NB,I,e,DDMMYY,hhmmss,A,N,Y,E,O,S,C,f,cell,Z,,T,g,XXXX&
 *
 *   I  id       A  A: valid, V: not                   S  knots       Z  zone of date and time: ±hh:mm     X  a sum that is not known
 *   e  event    Y, O  ddmm.mmmm behind hemisphere     C  degrees     T  unix time: it is read, not the local one
 *
 * Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

const PLACE = '{valid},{ns},{latNmea},{ew},{lonNmea},{speedKnots},{course}'

export default textProtocol({
  name: 'nto',
  devices: 'NTO trackers',
  integrity: { none: 'which sum the digits at the end are is not known' },
  port: 5250,
  frame: endsWith('&'),
  ends: '&',
  lines: [
    { like: `^NB,{id},{any:3},${PLACE},{any},{any},{any},{any},{unix},{any}` },
    { like: '^{any},{id},{any}', unknown: 'type' },
  ],
})
