/*
 * Sabertek trackers. No specification is known: inferred from frames. TCP, text between 02 and 03:
 *
 *   02 ,I,3,b,g,i,x,f,Y,O,S,C,H,s,o, 03                                        position, of now
 *   02 ,I,4,IMEI,ICCID,phone,YYYYMMDDhhmmss,b,g,i,x,f,Y,O,S,C,H,s,o, 03        position
 *
 *   I  id             g  signal     Y, O  decimal degrees     S  km/h        H  metres         o  odometer
 *   b  battery, %     f  1: fixed   s     satellites          C  degrees     Answer: 06
 *   i  state; bit 3: tampering. Bits 0–2 are ignition, charging and jamming; which is which is not known, so they are read
 *      where they are alike.
 */
import { alarmsOf, endsWith, type Said, textProtocol } from '../kit/index.ts'

const PLACE =
  '{batteryPercent},{any},{state},{any},{valid},{lat},{lon},{speedKmh},{course},{altitude},{satellites}[,{any}]'

export default textProtocol({
  name: 'sabertek',
  devices: 'Sabertek trackers',
  acknowledges: 'fixes',
  port: 5166,
  frame: endsWith('\x03', '\x03\r\n'),
  ends: '\x03',
  before: (text) => (text.startsWith('\x02') ? text.slice(1) : text),
  fields: {
    state: { read: (text, draft) => /^\d+$/.test(text) && draft.says(stateOf(+text)) },
  },
  lines: [
    { like: `,{id},3,${PLACE}`, answer: '\x06' },
    { like: `,{id},4,{any:3},{yyyymmdd}{hhmmss},${PLACE}`, answer: '\x06' },
    { like: ',{id},{any}', unknown: 'type' },
  ],
})

function stateOf(bits: number): Said {
  const isOn = (bits & ALIKE) === ALIKE
  const alarms = alarmsOf(isOn && 'jamming', (bits & TAMPERED) !== 0 && 'tampering')
  return isOn || (bits & ALIKE) === 0 ? { ignition: isOn, charging: isOn, alarms } : { alarms }
}

const [ALIKE, TAMPERED] = [7, 8]
