/*
 * Appello 4P and other trackers that call themselves FOLLOWIT. No specification is known: inferred from frames. TCP, text, lines:
 *
 *   FOLLOWIT,I,YYMMDDhhmmss,Y,O,S,C,s,H,F,x{6},V,…     position; F: fixed, L: the last known one
 *   FOLLOWIT,I,UTCTIME,x{13},V,…                the clock was never set: no fix
 *
 *   I  IMEI     Y, O  decimal degrees     S  knots     C  degrees     s  satellites     H  metres
 *   V  battery, V
 *
 * Nothing is answered. That the speed is in knots is a guess.
 */
import { type Draft, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'appello',
  devices: 'Appello 4P, FOLLOWIT trackers',
  port: 5109,
  fields: { state: { like: '[FL]', read: (text: string, draft: Draft) => void (draft.valid = text === 'F') } },
  lines: [
    {
      like: 'FOLLOWIT,{imei},{ymd}{hhmmss},{lat},{lon},{speedKnots},{course},{satellites},{altitude},{state}[,{any:6},{batteryVolts}],{any}',
    },
    { like: 'FOLLOWIT,{imei},UTCTIME[,{any:13},{batteryVolts}],{any}', none: 'no fix' },
    { like: 'FOLLOWIT,{imei},{any}', unknown: 'type' },
  ],
})
