/*
 * Gotop TL-201, TL-206, VT108 and clones. "TL201/VT108 GPS Tracker GPRS Protocol" 5.0 (traccar.org/protocol/5050-gotop).
 * TCP, text:
 *
 *   I,E,A,DATE:YYMMDD,TIME:hhmmss,LAT:YN,LOT:OE,Speed:S,[x-x-x-x-]b-r,…#     also LON:; b battery, %; r signal
 *
 *   I  IMEI     E  event: CMD-T, ALM-B1 …     A  A: valid, V: not     Y, O  decimal degrees     S  km/h     Nothing is answered.
 */
import { type Draft, endsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'gotop',
  devices: 'Gotop TL-201, TL-206, VT108, VT380',
  port: 5050,
  frame: endsWith('#'),
  ends: '#',
  fields: {
    letters: { like: '[A-Z]+' },
    state: { like: '[^,]*', read: readState },
  },
  lines: [
    {
      like: '{imei},{any},{valid},DATE:{ymd},TIME:{hhmmss},LAT:{lat}{ns},L{letters}:{lon}{ew},Speed:{speedKmh}[,{state}[,{any}]]',
    },
    { like: '{imei},{any}', unknown: 'type' },
  ],
})

/** The last but one of the numbers is the charge of the battery. */
function readState(text: string, draft: Draft): void {
  const charge = BATTERY.exec(text)?.[1]
  if (charge !== undefined) draft.says({ battery_percent: +charge })
}

const BATTERY = /(?:^|-)(\d{1,3})-\d+$/
