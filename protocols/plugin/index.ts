/*
 * Trackers of Plugin (South Africa) and clones. No specification is known: inferred from frames. TCP and UDP, text:
 *
 *   [$$STATUS[,]]I,YYYYMMDDhhmmss,O,Y,S,C,H,s,k,m,f,…#     position; answer $$hb,1#
 *
 *   I  id     f  state, bit 1: ignition (inferred)     m  distance     k  a number
 *   O, Y  decimal degrees, longitude first     S  km/h     C  degrees     H  metres     s  satellites, -1: not known
 */
import { endsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'plugin',
  devices: 'Plugin trackers',
  acknowledges: 'fixes',
  port: 5192,
  frame: endsWith('#'),
  ends: '#',
  fields: {
    id: { like: '\\w+' },
    state: { like: '\\d+', read: (text, draft) => draft.says({ ignition: Math.floor(+text / 2) % 2 === 1 }) },
  },
  lines: [
    {
      like: '[$$STATUS[,]]{id},{yyyymmdd}{hhmmss},{lon},{lat},{speedKmh},{course},{altitude},{satellites},{any}[,{any},{state}][,{any}]',
      answer: '$$hb,1#',
    },
    { like: '$${any}', unknown: 'type' },
  ],
})
