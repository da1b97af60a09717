/*
 * GlobalSat TR-102, TR-151, TR-203, TR-600, GTR-128, GTR-388. TR-206 user manual, §11 (easymanua.ls/globalsat/tr-206),
 * and frames. TCP, text with a checksum:
 *
 *   GSx,[m,]I,…,f,DDMMYY,hhmmss,EO,NY,H,S,C,s,P,…*XX!        report, of a format that can be configured: this is its usual part
 *   $I,x,f,DDMMYY,hhmmss,EO,NY,H,S,C,s,P[…]!                 report of the TR-102, without a checksum
 *
 *   x  r: report, b: several     f  1: no fix          H  metres     C  degrees        P  HDOP
 *   m  model, or nothing         Y, O  ddmm.mmmm       S  knots      s  satellites     X  exclusive or of what precedes *
 *   I  IMEI
 *
 *   Answer to a report with a checksum: ACK, carriage return
 */
import { type Draft, endsWith, textProtocol } from '../kit/index.ts'

const PLACE =
  '{fixed},{dmy},{hhmmss},{ew}{lonNmea},{ns}{latNmea},{altitude},{speedKnots},{course}[,{satellites}[,{hdop}[,{any}]]][*{any}]'

export default textProtocol({
  name: 'globalsat',
  devices: 'GlobalSat TR-102, TR-151, TR-203, TR-600, GTR-128, GTR-388',
  acknowledges: 'fixes',
  integrity: { sum: 'xor', to: '*', digits: 2, optional: true },
  port: 5043,
  frame: endsWith('!'),
  ends: '!',
  fields: {
    kind: { like: '[a-z]' },
    model: { like: '[A-Z][A-Z0-9-]*|' },
    fixed: { like: '\\d', read: (text: string, draft: Draft) => void (draft.valid = text !== '1') },
  },
  lines: [
    ...['{any:3},', '{any:4},', '{any:2},', '{any:5},', '{any:1},', ''].map((fields) => ({
      like: `GS{kind},[{model},]{imei},${fields}${PLACE}`,
      answer: 'ACK\r',
    })),
    { like: `\${imei},{any},${PLACE}` },
    { like: 'GS{kind},[{model},]{imei}[,{any}]', unknown: 'position' },
  ],
})
