/*
 * C-Guard trackers (Guardian, Russia). No specification is known: inferred from frames. TCP, text, lines:
 *
 *   IDRO:I                                       login
 *   NV:YYMMDD hhmmss:Y:O:S:a:C:H                 position; NAN stands for what is not known
 *   BC:YYMMDD hhmmss:…  VERSION:v  PING          state, version, heartbeat
 *
 *   I  IMEI     Y, O  decimal degrees     S  km/h     C  degrees     H  metres
 *
 * Nothing is answered.
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'cguard',
  devices: 'C-Guard trackers',
  port: 5123,
  absent: 'NAN',
  lines: [
    { like: 'NV:{ymd} {hhmmss}:{lat}:{lon}:{speedKmh}[:{any}[:{course}[:{altitude}[:{any}]]]]' },
    { like: 'IDRO:{id}', none: 'login' },
    { like: 'BC:{any}', none: 'status' },
    { like: 'VERSION:{any}', none: 'status' },
    { like: 'PING', none: 'heartbeat' },
    { like: 'NV:{any}', unknown: 'position' },
  ],
})
