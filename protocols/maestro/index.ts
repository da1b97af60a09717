/*
 * Maestro M2M Gateway and UPV-02 (Maestro Wireless). No specification is known: inferred from frames. TCP, text:
 *
 *   @I,E,N,f,b,r,x,x,YY/MM/DD,hh:mm:ss,Y,O,H,S,C,s,P[,…]!
 *
 *   I  IMEI        f  1: GPS has a fix     Y, O  decimal degrees     C  degrees
 *   E  event       b  battery, V           H  metres                 s  satellites
 *   N  model       r  signal               S  miles an hour          P  HDOP
 *
 * Nothing is answered.
 */
import { between, textProtocol } from '../kit/index.ts'

const TIME = '{yy}/{month}/{day},{hour}:{minute}:{second}'

export default textProtocol({
  name: 'maestro',
  devices: 'Maestro M2M Gateway, UPV-02',
  port: 5129,
  frame: between('@', '!'),
  lines: [
    {
      like: `@{imei},{any:2},{valid},{any:4},${TIME},{lat},{lon},{altitude},{speedMph},{course},{satellites}[,{hdop}[,{any}]]!`,
    },
    { like: '@{imei},{any}', unknown: 'type' },
  ],
})
