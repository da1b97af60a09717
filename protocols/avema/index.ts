/*
 * Avema trackers. No specification is known: inferred from frames. TCP, text, lines:
 *
 *   I,YYYYMMDDhhmmss,O,Y,S,C,H,s,e,x,x,x,V,…
 *
 *   I  id     O, Y  decimal degrees     S  km/h     C  degrees     H  metres     s  satellites     e  event
 *   V  external voltage
 *
 * Behind eight or seven fields more, of which the last may be a decimal number, stands the driver's card.
 *
 * Nothing is answered.
 */
import { textProtocol } from '../kit/index.ts'

const PLACE = '{id},{yyyymmdd}{hhmmss},{lon},{lat},{speedKmh},{course},{altitude},{satellites},{any:4}'

export default textProtocol({
  name: 'avema',
  devices: 'Avema trackers',
  port: 5171,
  fields: {
    id: { like: '\\d+' },
    reading: { like: '\\d+\\.\\d+' },
    card: { like: '\\w{8,}', read: (text, draft) => draft.says({ driver: text }) },
  },
  lines: [
    { like: `${PLACE},{externalVolts}[V],{any:7},[{reading},]{card}[,{any}]` },
    { like: `${PLACE},{externalVolts}[V],{any}` },
    { like: '{id},{yyyymmdd}{hhmmss},{lon},{lat},{speedKmh},{course},{altitude},{satellites},{any}' },
    { like: '{id},{yyyymmdd}{any}', unknown: 'position' },
  ],
})
