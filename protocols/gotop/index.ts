/*
 * Gotop TL-201, TL-206, VT108 and clones. "TL201/VT108 GPS Tracker GPRS Protocol" 5.0 (traccar.org/protocol/5050-gotop).
 * TCP, text:
 *
 *   I,E,A,DATE:YYMMDD,TIME:hhmmss,LAT:YN,LOT:OE,Speed:S,…#     also LON:
 *
 *   I  IMEI     E  event: CMD-T, ALM-B1 …     A  A: valid, V: not     Y, O  decimal degrees     S  km/h     Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'gotop',
  devices: 'Gotop TL-201, TL-206, VT108, VT380',
  port: 5050,
  frame: endsWith('#'),
  ends: '#',
  fields: { letters: { like: '[A-Z]+' } },
  lines: [
    {
      like: '{imei},{any},{valid},DATE:{ymd},TIME:{hhmmss},LAT:{lat}{ns},L{letters}:{lon}{ew},Speed:{speedKmh}[,{any}]',
    },
    { like: '{imei},{any}', unknown: 'type' },
  ],
})
