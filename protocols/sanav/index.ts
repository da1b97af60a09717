/*
 * Sanav GX-101, GC-101, MU-201, CT-24, CT-58 and clones: "Data output format" in the manuals of MU-201, MU-201 S2, GC-101 and
 * CT-58. TCP and UDP, text without an end, around an NMEA sentence:
 *
 *   imei=I&rmc=$GPRMC,hhmmss,A,Y,N,O,E,S,C,DDMMYY,…,e,b     IMEI=…&rmc=… (MU-201 S2)     imei=…&RMC=… (CT-58; GC-101: no $)
 *   imei:Irmc:$GPRMC,…
 *
 *   I  IMEI     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots     C  degrees
 *   e  event: SOS, LP (low battery), and others, behind a B when they come late
 *   b  own battery: V3.872;67%, 3.793;56% (LP), 3912,79, 4103mv or nothing
 *
 * Nothing is answered.
 */
import { alarmsOf, type Draft, RMC, startsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'sanav',
  devices: 'Sanav GX-101, GC-101, MU-201, CT-24, CT-58',
  integrity: { none: 'the sentence has one, which these devices do not always send' },
  port: 5051,
  transports: ['tcp', 'udp'],
  frame: startsWith('imei=', 'imei:', 'IMEI='),
  fields: {
    word: { like: 'imei|IMEI' },
    sentence: { like: 'rmc|RMC' },
    digits: { like: '\\d+', read: (text: string, draft: Draft) => void (draft.device = text) },
    state: { read: readState },
  },
  lines: [
    { like: `{word}={id}&{sentence}=[$]GPRMC,${RMC}{state}` },
    { like: `imei:{digits}rmc:$GPRMC,${RMC}{state}` },
    { like: '{word}={id}&{any}', unknown: 'type' },
    { like: 'imei:{digits}rmc:{any}', unknown: 'position' },
  ],
})

const VOLTS = /\bV?(\d\.\d+);(\d{1,3})%|\bV(\d+\.\d+)/
const MILLIVOLTS = /\b(\d{4})mv\b|,[A-Z]+,(\d{4}),(\d{1,3})\s*$/i
const LOW = /\(LP\)|,B?LP\b/

function readState(text: string, draft: Draft): void {
  const [, volts, percent, alone] = VOLTS.exec(text) ?? []
  const [, millivolts, plain, share] = MILLIVOLTS.exec(text) ?? []
  if (volts !== undefined || alone !== undefined) draft.says({ battery_voltage: +(volts ?? alone) })
  if (percent !== undefined || share !== undefined) draft.says({ battery_percent: +(percent ?? share) })
  if (millivolts !== undefined || plain !== undefined) draft.says({ battery_voltage: +(millivolts ?? plain) / 1000 })
  const alarms = alarmsOf(/,B?SOS\b/.test(text) && 'sos', LOW.test(text) && 'low_battery')
  if (alarms.length > 0) draft.says({ alarms })
}
