/*
 * Arknav RX8, RX9, R-7. No specification is known: inferred from frames. TCP and UDP, text, lines that end with CR:
 *
 *   I,05*827,000,L001,A,Y,N,O,E,S,C,P,hh:mm:ss DD-MM-YY,…
 *
 *   I  IMEI     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots     C  degrees     P  HDOP
 *
 * Nothing is answered. That the speed is in knots is a guess: it is what NMEA receivers say.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'arknav',
  devices: 'Arknav RX8, RX9, R-7',
  port: 5107,
  transports: ['tcp', 'udp'],
  frame: endsWith('\r', '\r\n'),
  lines: [
    {
      like: '{imei},{any:3},{valid},{latNmea},{ns},{lonNmea},{ew},{speedKnots},{course},{hdop},{hour}:{minute}:{second} {day}-{month}-{yy},{any}',
    },
    { like: '{imei},{any}', unknown: 'type' },
  ],
})
