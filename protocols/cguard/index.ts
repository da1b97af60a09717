/*
 * C-Guard trackers (Guardian, Russia). No specification is known: inferred from frames. TCP, text, lines:
 *
 *   IDRO:I                                       login
 *   NV:YYMMDD hhmmss:Y:O:S:a:C:H                 position; NAN stands for what is not known
 *   BC:YYMMDD hhmmss:name:value:…  VERSION:v  PING          state, version, heartbeat
 *
 *   I  IMEI     Y, O  decimal degrees     S  km/h     C  degrees     H  metres
 *
 * Of the state BAT1 is the charge of the battery (%), PWR1 the external power (V). Nothing is answered.
 */
import { type Draft, optionalNumber, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'cguard',
  devices: 'C-Guard trackers',
  port: 5123,
  absent: 'NAN',
  fields: { values: { read: readState } },
  lines: [
    { like: 'NV:{ymd} {hhmmss}:{lat}:{lon}:{speedKmh}[:{any}[:{course}[:{altitude}[:{any}]]]]' },
    { like: 'IDRO:{id}', none: 'login' },
    { like: 'BC:{ymd} {hhmmss}:{values}', none: 'status' },
    { like: 'BC:{any}', none: 'status' },
    { like: 'VERSION:{any}', none: 'status' },
    { like: 'PING', none: 'heartbeat' },
    { like: 'NV:{any}', unknown: 'position' },
  ],
})

/** Names and values in turn. */
function readState(text: string, draft: Draft): void {
  const parts = text.split(':')
  const valueOf = (name: string) => (parts.includes(name) ? optionalNumber(parts[parts.indexOf(name) + 1]) : undefined)
  draft.says({ battery_percent: valueOf('BAT1'), external_voltage: valueOf('PWR1') })
}
