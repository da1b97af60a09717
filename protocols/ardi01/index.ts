/*
 * Ardi 01. No specification is known: inferred from frames. TCP, text, lines:
 *
 *   I,YYYYMMDDhhmmss,O,Y,S,C,H,s,e,b,t
 *
 *   I  IMEI     O, Y  decimal degrees     C  degrees     s  satellites     b  battery, %
 *   S  km/h                               H  metres      e  event          t  degrees Celsius
 *
 * Nothing is answered.
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'ardi01',
  devices: 'Ardi 01',
  port: 5075,
  lines: [
    {
      like: '{imei},{yyyymmdd}{hhmmss},{lon},{lat},{speedKmh},{course},{altitude},{satellites}[,{any},{batteryPercent}][,{any}]',
    },
    { like: '{imei},{any}', unknown: 'position' },
  ],
})
