/*
 * GTX SmartSole and other GTX Corp trackers. No specification is known: inferred from frames. TCP, text:
 *
 *   #GTXRP=I,E,YYMMDDhhmmss,Y,O,H,S,f,s,P,YYMMDDhhmmss,b,…$
 *
 *   I  IMEI      Y, O  decimal degrees     S  km/h          s  satellites     the second time is that of the fix
 *   E  event     H     metres              f  1: fixed      P  HDOP           b  battery, V
 *
 * Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'smartsole',
  devices: 'GTX SmartSole',
  port: 5178,
  frame: endsWith('$'),
  ends: '$',
  lines: [
    {
      like: '#GTXRP={imei},{any:2},{lat},{lon},{altitude},{speedKmh},{valid},{satellites},{hdop},{ymd}{hhmmss}[,{batteryVolts}[,{any}]]',
    },
    { like: '#{any}={imei},{any}', unknown: 'type' },
  ],
})
