/*
 * GpsGate clients and devices: "GpsGate Server Protocol Specification" v1.0, v1.1 and v2.0 (Franson, 2009,
 * scribd.com/doc/270902012). NMEA sentences over TCP, which end with CR LF or NUL:
 *
 *   $FRLIN,domain,I,password*XX                                          login; answer $FRSES,session*XX
 *   $FRLIN,IMEI,I,*XX     $FRWDT,NMEA*XX     $FRVER,1,0,name*XX          login, flow, version
 *   $GPRMC,hhmmss.sss,A,Y,N,O,E,S,C,DDMMYY,…*XX                          position
 *   $FRCMD,I,_Command,,Y,N,O,E,H,S,C,DDMMYY,hhmmss.sss,f,…*XX        position with the id, f: 1 valid
 *
 *   I  user name or IMEI     Y, O  ddmm.mmmm     S  knots     C  degrees     H  metres     X  exclusive or of what is between $ and *
 */
import { endsWith, RMC, textProtocol, xor } from '../kit/index.ts'

export default textProtocol({
  name: 'gpsgate',
  devices: 'GpsGate clients',
  acknowledges: 'some',
  integrity: { sum: 'xor', from: '$', to: '*', digits: 2 },
  port: 5026,
  frame: endsWith('\0', '\n', '\r\n'),
  fields: { talker: { like: 'G[A-Z]' }, command: { like: '_[A-Za-z]+' } },
  lines: [
    { like: '$FRLIN,IMEI,{id},{any}', none: 'login', answer: opened },
    { like: '$FRLIN,{any},{id},{secret}*{any}', none: 'login', answer: opened },
    { like: '$FRVER,{any}', none: 'status' },
    { like: '$FRWDT,{any}', none: 'status' },
    { like: `\${talker}RMC,${RMC}{any}` },
    {
      like: '$FRCMD,{id},{command},{any},{latNmea},{ns},{lonNmea},{ew},{altitude},{speedKnots},{course},{dmy},{hms},{valid}[,{any}]*{any}',
    },
    {
      like: '$FRCMD,{id},{command},{any},{latNmea},{ns},{lonNmea},{ew},{altitude},{speedKnots},{course},{dmy},{hms}*{any}',
    },
    { like: '$FRCMD,{id},{any}', unknown: 'type' },
    { like: '${any}', unknown: 'type' },
  ],
})

/** The session is the name that was presented. */
function opened(): string {
  const text = 'FRSES,embedded'
  return `$${text}*${xor(Buffer.from(text)).toString(16).padStart(2, '0')}\r\n`
}
