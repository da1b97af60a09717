/*
 * TrackBox of Blue Aspect and clones. No specification is known: inferred from frames; a position is what modems answer to
 * AT$GPSACP, where without a fix fields are empty. TCP, lines:
 *
 *   a=connect&v=11&i=I                                     login
 *   hhmmss.sss,YN,OE,P,H,f,C,S,k,DDMMYY,s                  position
 *
 *   I  IMEI     Y, O  ddmm.mmmm     P  HDOP     H  metres     f  0: no fix     C  degrees     S  km/h     k  knots     s  satellites
 *
 * Answer to both: =OK=
 */
import { textProtocol } from '../kit/index.ts'

const answer = '=OK=\r\n'

export default textProtocol({
  name: 'trackbox',
  devices: 'TrackBox',
  acknowledges: 'fixes',
  port: 5068,
  lines: [
    {
      like: '{hms},[{latNmea}{ns}],[{lonNmea}{ew}],{hdop},{altitude},[{quality}],{course},{any},{speedKnots},[{dmy}],{satellites}',
      answer,
    },
    { like: 'a=connect&v={any}&i={id}', none: 'login', answer },
    { like: 'a={any}&{any}', unknown: 'type', answer },
  ],
})
