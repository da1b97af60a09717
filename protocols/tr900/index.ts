/*
 * TR-900 and clones, and NEOS units over UDP (`neos`). No specification is known: inferred from frames. TCP and UDP, lines:
 *
 *   >I,e,x,YYMMDD,hhmmss,EO,NY,x,S,C,g,…*XX!
 *
 *   I  id     e  event     Y, O  ddmm.mmmm behind the hemisphere     S  km/h     C  degrees     g  signal
 *
 * The two digits X are a sum that is not known. Nothing is answered.
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'tr900',
  devices: 'TR-900',
  integrity: { none: 'which sum the two digits at the end are is not known' },
  port: 5074,
  transports: ['tcp', 'udp'],
  lines: [
    {
      like: '>{id},{any:2},{ymd},{hhmmss},{ew}{lonNmea},{ns}{latNmea},{any},{speedKmh},{course},{any}',
    },
    { like: '>{id},{any}', unknown: 'type' },
  ],
})
