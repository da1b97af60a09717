/*
 * Sanav GX-101, MU-201, CT-24 and clones: "Sanav protocol" around an NMEA sentence, TCP and UDP, text without an end:
 *
 *   imei=I&rmc=$GPRMC,hhmmss,A,Y,N,O,E,S,C,DDMMYY,…     imei:Irmc:$GPRMC,…
 *
 *   I  IMEI     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots     C  degrees
 *   Behind the sentence some firmware has the own battery: V3.872;67% or 4103mv.
 *
 * Nothing is answered.
 */
import { type Draft, RMC, startsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'sanav',
  devices: 'Sanav GX-101, MU-201, CT-24',
  integrity: { none: 'the sentence has one, which these devices do not always send' },
  port: 5051,
  transports: ['tcp', 'udp'],
  frame: startsWith('imei=', 'imei:'),
  fields: {
    digits: { like: '\\d+', read: (text: string, draft: Draft) => void (draft.device = text) },
    state: { read: readState },
  },
  lines: [
    { like: `imei={id}&rmc=$GPRMC,${RMC}{state}` },
    { like: `imei:{digits}rmc:$GPRMC,${RMC}{state}` },
    { like: 'imei={id}&{any}', unknown: 'type' },
    { like: 'imei:{digits}rmc:{any}', unknown: 'position' },
  ],
})

const VOLTS = /\bV(\d+\.\d+)(?:;(\d{1,3})%)?/
const MILLIVOLTS = /\b(\d{4})mv\b/i

function readState(text: string, draft: Draft): void {
  const [, volts, percent] = VOLTS.exec(text) ?? []
  const millivolts = MILLIVOLTS.exec(text)?.[1]
  if (volts !== undefined) draft.says({ battery_voltage: +volts })
  if (percent !== undefined) draft.says({ battery_percent: +percent })
  if (millivolts !== undefined) draft.says({ battery_voltage: +millivolts / 1000 })
}
