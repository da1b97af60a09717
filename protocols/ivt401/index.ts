/*
 * IVT 401 trackers (India). No specification is known: inferred from frames. TCP, text that ends with ;
 *
 *   (TLx,I,DDMMYY,hhmmss,Y,O,S,C,H,s,f,…);
 *
 *   x  kind: N, A, L     I  IMEI     Y, O  decimal degrees     S  km/h     C  degrees     H  metres     s  satellites
 *
 * Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'ivt401',
  devices: 'IVT 401',
  port: 5153,
  frame: endsWith(';'),
  ends: ';',
  fields: { kind: { like: '[A-Z]+' } },
  lines: [
    { like: '(TL{kind},{imei},{dmy},{hhmmss},{lat},{lon},{speedKmh},{course},{altitude},{satellites}[,{any}]' },
    { like: '({any},{imei},{any}', unknown: 'type' },
  ],
})
