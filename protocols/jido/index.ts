/*
 * Jido trackers (India). No specification is known: inferred from frames. TCP, text:
 *
 *   *I,01,A,DDMMYY,hhmmss,Y,N,O,E,S,x,C,H,s,x,x,x,b,c,…,XX#     position
 *   *I,03,DDMMYY,hhmmss,Y,N,O,E,e,XX#                 alarm e with a position; 1: the battery is low (inferred)
 *
 *   I  id     A  A: valid, V: not     Y, O  ddmm.mmmm     S  km/h     C  degrees     H  metres     s  satellites     X  unknown sum
 *   b  battery, %     c  Y: it is being charged
 *
 * Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

const PLACE = '{dmy},{hhmmss},{latNmea},{ns},{lonNmea},{ew}'

export default textProtocol({
  name: 'jido',
  devices: 'Jido trackers',
  integrity: { none: 'which sum the two digits at the end are is not known' },
  port: 5237,
  frame: endsWith('#'),
  ends: '#',
  fields: {
    alarm: { like: '\\d+', alarms: { 1: 'low_battery' } },
    charger: { like: 'Y', read: (_, draft) => draft.says({ charging: true }) },
  },
  lines: [
    {
      like: `*{id},01,{valid},${PLACE},{speedKmh},{any},{course},{altitude},{satellites},{any:3},{batteryPercent},{charger},{any}`,
    },
    {
      like: `*{id},01,{valid},${PLACE},{speedKmh},{any},{course},{altitude},{satellites},{any:3},{batteryPercent},{any}`,
    },
    { like: `*{id},01,{valid},${PLACE},{speedKmh},{any},{course},{altitude},{satellites},{any}` },
    { like: `*{id},03,${PLACE},{alarm},{any}` },
    { like: `*{id},03,${PLACE},{any}` },
    { like: '*{id},{any}', unknown: 'type' },
  ],
})
