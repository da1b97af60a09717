/*
 * Fox-Lite and similar. No specification is known: inferred from frames. TCP, XML with a position as a list:
 *
 *   <fox><gps id="I" data="e,A,DDMMYY,hhmmss,Y,N,O,E,S,C,H,inputs U …"/></fox>
 *
 *   I  id     e  event     A  A: valid, V: not     Y, O  ddmm.mmmm     S  km/h     C  degrees     U  power, 0.1 V
 *
 * Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

const PLACE = '<fox><gps id="{id}" data="{any},{valid},{dmy},{hhmmss},{latNmea},{ns},{lonNmea},{ew},{speedKmh},{course}'

export default textProtocol({
  name: 'fox',
  devices: 'Fox-Lite',
  port: 5105,
  frame: endsWith('</fox>'),
  fields: { inputs: { like: '[01]+' } },
  lines: [
    { like: `${PLACE},{any},{inputs} {externalVolts/10} {any}` },
    { like: `${PLACE},{any}` },
    { like: '<fox>{any}', unknown: 'type' },
  ],
})
