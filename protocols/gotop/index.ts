/*
 * Gotop TL-201, TL-206, VT108 and clones. "TL201/VT108 GPS Tracker GPRS Protocol" 5.0 (traccar.org/protocol/5050-gotop).
 * TCP, text:
 *
 *   I,E,A,DATE:YYMMDD,TIME:hhmmss,LAT:YN,LOT:OE,Speed:S,[x-x-x-x-]b-r[,C[,cell,s,…]]#     also LON:; volts may stand for C
 *
 *   I  IMEI                        A  A: valid, V: not        S  km/h        s  satellites     b  battery, %
 *   E  event: CMD-T, ALM-B1 …      Y, O  decimal degrees      C  degrees     r  signal         Nothing is answered.
 */
import { type Draft, endsWith, heading, textProtocol } from '../kit/index.ts'

const PLACE = '{imei},{any},{valid},DATE:{ymd},TIME:{hhmmss},LAT:{lat}{ns},L{letters}:{lon}{ew},Speed:{speedKmh}'

export default textProtocol({
  name: 'gotop',
  devices: 'Gotop TL-201, TL-206, VT108, VT380',
  port: 5050,
  frame: endsWith('#'),
  ends: '#',
  fields: {
    letters: { like: '[A-Z]+' },
    state: { like: '[^,]*', read: readState },
    direction: { like: '\\d{1,3}', read: (text, draft) => void (draft.heading = heading(+text)) },
    used: { like: '\\d{2}', read: (text, draft) => void (draft.satellites = +text) },
  },
  lines: [
    { like: `${PLACE},{state},{direction}[,{any},{used},{any}]` },
    { like: `${PLACE},{state},{direction}[,{any}]` },
    { like: `${PLACE}[,{state}[,{any}]]` },
    { like: '{imei},{any}', unknown: 'type' },
  ],
})

/** The last but one of the numbers is the charge of the battery. */
function readState(text: string, draft: Draft): void {
  const charge = BATTERY.exec(text)?.[1]
  if (charge !== undefined) draft.says({ battery_percent: +charge })
}

const BATTERY = /(?:^|-)(\d{1,3})-\d+$/
