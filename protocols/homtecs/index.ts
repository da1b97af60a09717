/*
 * Homtecs boxes in taxis and on ships. No specification is known: inferred from frames. UDP, text:
 *
 *   I_v,YYMMDD,hhmmss.ss,s,Y,N,O,E,S,C,q,P,H     without a fix Y to H are empty
 *
 *   I  id     v  version     s  satellites     Y, O  ddmm.mmmm     S  knots     C  degrees     q  0: no fix     P  HDOP     H  metres
 *
 * Nothing is answered.
 */
import { textProtocol, whole } from '../kit/index.ts'

export default textProtocol({
  name: 'homtecs',
  devices: 'Homtecs boxes',
  port: 5104,
  transports: ['udp'],
  frame: whole,
  lines: [
    {
      like: '{id}_{any},{ymd},{hms},{satellites},{latNmea},[{ns}],{lonNmea},[{ew}],{speedKnots},{course},[{quality}][,{hdop}[,{altitude}[,{any}]]]',
      none: 'no fix',
    },
  ],
})
