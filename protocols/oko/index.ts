/*
 * OKO trackers (Ukraine). No specification is known: inferred from frames. TCP, text; the first frame of a connection has the id:
 *
 *   {[I,]hhmmss.sss,A,Y,N,O,E,S,C,DDMMYY,s,x,i,p,…}
 *
 *   I  IMEI     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots     C  degrees     s  satellites
 *   p  external power: V with a point, or 0.1 V in hexadecimal digits
 *
 * Nothing is answered.
 */
import { between, type Draft, textProtocol } from '../kit/index.ts'

const PLACE =
  '{hms},{valid},{latNmea},{ns},{lonNmea},{ew},{speedKnots},{course},{dmy}[,{satellites}[,{any},{any},{supply}][,{any}]]'

export default textProtocol({
  name: 'oko',
  devices: 'OKO trackers',
  port: 5152,
  frame: between('{', '}'),
  ends: '}',
  fields: {
    supply: {
      like: '[\\d.A-Fa-f]*',
      read: (text: string, draft: Draft) =>
        draft.says({ external_voltage: text.includes('.') ? Number(text) : Number.parseInt(text, 16) / 10 }),
    },
  },
  lines: [
    { like: `\\{{imei},${PLACE}` },
    { like: `\\{${PLACE}` },
    { like: '\\{[{imei},]{hms},{valid},,,,,{any}', none: 'no fix' },
    { like: '\\{[{imei},]{any}', unknown: 'type' },
  ],
})
