/*
 * R12W trackers. No specification is known: inferred from one frame. TCP, lines:
 *
 *   $HX,0001,I,n,ICCID,phone,password,…,#,XX,     login; answer $HX,1001,I,n,OK,#,00,
 *
 *   I  IMEI     n  serial number
 *
 * Other types are answered by nobody knows what: they are kept as they are.
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'r12w',
  devices: 'R12W',
  integrity: { none: 'which sum the two digits at the end are is not known' },
  port: 5226,
  fields: { serial: {} },
  lines: [
    {
      like: '$HX,0001,{imei},{serial},{any:2},{secret},{any}',
      none: 'login',
      answer: '$HX,1001,{imei},{serial},OK,#,00,\r\n',
    },
    { like: '$HX,{any},{imei},{any}', unknown: 'position' },
  ],
})
