/*
 * Xtreme XT013 and clones. No specification is known: inferred from frames. TCP, lines:
 *
 *   [HI,I]TK,I,YYMMDDhhmmss,Y,O,S,C,x,x,f,n,n,n,n,g,x,V,c,…
 *
 *   I  IMEI     Y, O  decimal degrees with a sign     S  km/h     C  degrees     f  F: fixed
 *   n  cell     g  signal     V  battery, V     c  1: is charged
 *
 * Nothing is answered.
 */
import { type Draft, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'xt013',
  devices: 'XT013',
  port: 5076,
  fields: {
    greeting: { like: '\\d{15}' },
    fixed: { like: '[A-Z]?', read: (text: string, draft: Draft) => void (draft.valid = text === 'F') },
  },
  lines: [
    {
      like: '[HI,{greeting}]TK,{imei},{ymd}{hhmmss},{lat},{lon},{speedKmh},{course},{any:2},{fixed}[,{any:6},{batteryVolts},[{charging}]][,{any}]',
    },
    { like: 'HI,{imei}', none: 'login' },
    { like: 'TK,{imei},{any}', unknown: 'type' },
  ],
})
