/*
 * Raveon radios with GPS (RV-M7, Atlas). "$PRAVE" sentence of the technical manual, TCP, a line with an NMEA checksum:
 *
 *   $PRAVE,I,to,Y,O,hhmmss,q,s,H,t,V,x,r,S,C,a,…*CC
 *
 *   I  id of the sender     q  0: no fix      H  metres       r  signal, dBm
 *   Y  ddmm.mmmm, signed    s  satellites     t  degrees C    V  input, V    S  km/h      C  degrees      a  alarm
 *
 * It has no date: the time of day that is nearest to the arrival. Nothing is answered.
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'raveon',
  devices: 'Raveon RV-M7, Atlas',
  integrity: { sum: 'xor', from: '$', to: '*', digits: 2 },
  port: 5117,
  lines: [
    {
      like: '$PRAVE,{id},{any},{latNmea},{lonNmea},{hhmmss},{quality},{satellites},{altitude},{any},{externalVolts},{any:2},{speedKmh},{course},{any}',
    },
    { like: '$PRAVE,{id},{any}', unknown: 'position' },
  ],
})
