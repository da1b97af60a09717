/*
 * Trackers of Plugin (South Africa) and clones. No specification is known: inferred from frames. TCP and UDP, text:
 *
 *   [$$STATUS[,]]I,YYYYMMDDhhmmss,O,Y,S,C,H,s,…#     position; answer $$hb,1#
 *
 *   I  id     O, Y  decimal degrees, longitude first     S  km/h     C  degrees     H  metres     s  satellites, -1: not known
 */
import { endsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'plugin',
  devices: 'Plugin trackers',
  acknowledges: 'fixes',
  port: 5192,
  frame: endsWith('#'),
  ends: '#',
  fields: { id: { like: '\\d+' } },
  lines: [
    {
      like: '[$$STATUS[,]]{id},{yyyymmdd}{hhmmss},{lon},{lat},{speedKmh},{course},{altitude},{satellites},{any}',
      answer: '$$hb,1#',
    },
    { like: '$${any}', unknown: 'type' },
  ],
})
