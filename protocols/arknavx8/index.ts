/*
 * Arknav X8: "Protocol format" of Arknav, chapter 3 (scribd.com/document/650181869), and frames. TCP and UDP, text that ends
 * with a semicolon, the last one of a packet perhaps without:
 *
 *   I,YYMMDD;                                             login
 *   1G,YYMMDDhhmmss,A,YYYY.YYYYN,OOOOO.OOOOE,S,C,P,s;     position; 1R: from memory
 *   2G,YYMMDDhhmmss,…,…,V,B,…;  2R,…;                     state; V, B  external power and battery, V
 *
 *   I  IMEI     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots     C  degrees     P  HDOP
 *
 * Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

/** Older firmware has other fields in their places. */
const VOLTS = '\\d{2}\\.\\d{2}|'

export default textProtocol({
  name: 'arknavx8',
  devices: 'Arknav X8',
  port: 5119,
  transports: ['tcp', 'udp'],
  frame: endsWith(';'),
  ends: ';',
  fields: {
    kind: { like: '[GR]' },
    power: { like: VOLTS, read: (text, draft) => draft.says({ external_voltage: +text }) },
    battery: { like: VOLTS, read: (text, draft) => draft.says({ battery_voltage: +text }) },
  },
  lines: [
    { like: '1{any},{ymd}{hhmmss},{valid},{latNmea}{ns},{lonNmea}{ew},{speedKnots},{course}[,{hdop}[,{any}]]' },
    { like: '1{any},{ymd}{hhmmss},{valid},,,{any}', none: 'no fix' },
    { like: '2{kind},{ymd}{hhmmss},{any:2},{power},{battery}[,{any}]', none: 'status' },
    { like: '2G,{any}', none: 'status' },
    { like: '2R,{any}', none: 'status' },
    { like: '{imei},{ymd}', none: 'login' },
    { like: '{any},{any}', unknown: 'type' },
  ],
})
