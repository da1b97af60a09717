/*
 * Alematics AL-900 and others. No specification is known: inferred from frames. TCP, text, lines:
 *
 *   $T,k,n,I,YYYYMMDDhhmmss,YYYYMMDDhhmmss,Y,O,S,C,H,P,s,i,o,a,V,x[,38,x,B,…]     position; the second time is that of the fix
 *
 *   k  kind      I     IMEI                S  km/h        H  metres     s  satellites
 *   n  number    Y, O  decimal degrees     C  degrees     P  HDOP
 *   V  external voltage     B  battery, mV (inferred)
 *
 * Nothing is answered.
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'alematics',
  devices: 'Alematics trackers',
  port: 5140,
  lines: [
    {
      like: '$T,{any:2},{imei},{any},{yyyymmdd}{hhmmss},{lat},{lon},{speedKmh},{course},{altitude},{hdop},{satellites}[,{any:3},{externalVolts}[,{any},38,{any},{batteryVolts/1000}]][,{any}]',
    },
    { like: '$T,{any:2},{imei}[,{any}]', unknown: 'position' },
    { like: '${any}', unknown: 'type' },
  ],
})
