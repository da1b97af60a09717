/*
 * Avema trackers. No specification is known: inferred from frames. TCP, text, lines:
 *
 *   I,YYYYMMDDhhmmss,O,Y,S,C,H,s,e,x,x,x,V,…
 *
 *   I  id     O, Y  decimal degrees     S  km/h     C  degrees     H  metres     s  satellites     e  event
 *   V  external voltage
 *
 * Nothing is answered.
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'avema',
  devices: 'Avema trackers',
  port: 5171,
  fields: { id: { like: '\\d+' } },
  lines: [
    {
      like: '{id},{yyyymmdd}{hhmmss},{lon},{lat},{speedKmh},{course},{altitude},{satellites},{any:4},{externalVolts}[V],{any}',
    },
    { like: '{id},{yyyymmdd}{hhmmss},{lon},{lat},{speedKmh},{course},{altitude},{satellites},{any}' },
    { like: '{id},{yyyymmdd}{any}', unknown: 'position' },
  ],
})
