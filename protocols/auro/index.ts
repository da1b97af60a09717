/*
 * Auro trackers (Thailand). No specification is known: inferred from frames. TCP, text, lines:
 *
 *   MnnnnTtttttttttttIiiiiiiiiiiiiiiiE…#RDkkxxggggggggggg+OOOOOOOOO+YYYYYYYYYDDMMYYYYhhmmssCCCaaassS…
 *
 *   i  IMEI     O, Y  1e-6 degrees, signed     C  degrees     S  km/h, three digits behind six others     UTC
 *
 * Nothing is answered.
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'auro',
  devices: 'Auro trackers',
  port: 5096,
  fields: {
    number: { like: 'M\\d{4}T\\d+' },
    imei: { like: '\\d{15}' },
    head: { like: '[0-9A-F]{16}' },
    between: { like: '\\d{6}' },
  },
  lines: [
    {
      like: '{number}I{imei}{any}#RD{head}{lon:10/1e6}{lat:10/1e6}{ddmmyyyy}{hhmmss}{course:3}{between}{speedKmh:3}{any}',
    },
    { like: '{number}I{imei}{any}', unknown: 'type' },
  ],
})
