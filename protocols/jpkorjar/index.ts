/*
 * JP Korjar trackers (Poland). No specification is known: inferred from frames. TCP, text without an end:
 *
 *   KORJAR.PL,I,YYMMDDhhmmss,YN,OE,S,C,b,A cell,…
 *
 *   I  IMEI     Y, O  decimal degrees     S  knots     C  degrees     b  battery     A  1: valid     Nothing is answered.
 */
import { startsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'jpkorjar',
  devices: 'JP Korjar trackers',
  port: 5122,
  frame: startsWith('KORJAR.PL'),
  lines: [
    { like: 'KORJAR.PL,{imei},{ymd}{hhmmss},{lat}{ns},{lon}{ew},{speedKnots},{course},{any},{valid} {any}' },
    { like: 'KORJAR.PL,{imei},{any}', unknown: 'type' },
  ],
})
