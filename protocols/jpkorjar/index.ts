/*
 * JP Korjar trackers (Poland). No specification is known: inferred from frames. TCP, text without an end:
 *
 *   KORJAR.PL,I,YYMMDDhhmmss,YN,OE,S,C,b,A cell,…
 *
 *   I  IMEI     Y, O  decimal degrees     S  knots     C  degrees     b  own battery, such as F:4.18V     A  1: valid     Nothing is answered.
 */
import { type Draft, startsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'jpkorjar',
  devices: 'JP Korjar trackers',
  port: 5122,
  frame: startsWith('KORJAR.PL'),
  fields: { battery: { read: readBattery } },
  lines: [
    { like: 'KORJAR.PL,{imei},{ymd}{hhmmss},{lat}{ns},{lon}{ew},{speedKnots},{course},{battery},{valid} {any}' },
    { like: 'KORJAR.PL,{imei},{any}', unknown: 'type' },
  ],
})

const VOLTS = /^[A-Z]:(\d+\.\d+)V$/

function readBattery(text: string, draft: Draft): void {
  const volts = VOLTS.exec(text)?.[1]
  if (volts !== undefined) draft.says({ battery_voltage: +volts })
}
