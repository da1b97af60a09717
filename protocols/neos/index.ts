/*
 * NEOS units; the wire is that of TR-900 (`tr900`). No specification is known: inferred from frames. UDP, text:
 *
 *   >I,e,x,YYMMDD,hhmmss,EO,NY,x,S,C,g,…*XX!
 *
 *   I  id     e  event     Y, O  ddmm.mmmm behind the hemisphere     S  km/h     C  degrees     g  signal
 *
 * The two digits X are a sum that is not known. Answer: $OK!
 */
import { textProtocol, whole } from '../kit/index.ts'

export default textProtocol({
  name: 'neos',
  devices: 'NEOS',
  acknowledges: 'fixes',
  integrity: { none: 'which sum the two digits at the end are is not known' },
  port: 5183,
  transports: ['udp'],
  frame: whole,
  lines: [
    {
      like: '>{id},{any:2},{ymd},{hhmmss},{ew}{lonNmea},{ns}{latNmea},{any},{speedKmh},{course},{any}',
      answer: '$OK!',
    },
    { like: '>{id},{any}', unknown: 'type', answer: '$OK!' },
  ],
})
