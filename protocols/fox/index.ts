/*
 * Fox-Lite and similar. No specification is known: inferred from frames. TCP, XML with a position as a list:
 *
 *   <fox><gps id="I" data="e,A,DDMMYY,hhmmss,Y,N,O,E,S,C,…"/></fox>
 *
 *   I  id     e  event     A  A: valid, V: not     Y, O  ddmm.mmmm     S  km/h     C  degrees
 *
 * Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'fox',
  devices: 'Fox-Lite',
  port: 5105,
  frame: endsWith('</fox>'),
  lines: [
    {
      like: '<fox><gps id="{id}" data="{any},{valid},{dmy},{hhmmss},{latNmea},{ns},{lonNmea},{ew},{speedKmh},{course},{any}',
    },
    { like: '<fox>{any}', unknown: 'type' },
  ],
})
