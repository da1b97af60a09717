/*
 * R16H ankle bracelets: "R16H Ankle Bracelet Protocol Document"; LINK and LBSD are inferred from frames. TCP, text:
 *
 *   @LINK,I$                                               login
 *   @GPSD,I,m,YYYYMMDD,hhmmss,Y,N,O,E,S,C,H,b,L,$          position
 *   @LBSD,I,m,YYYYMMDD,hhmmss,cells,wifi,,b,L,$            no position
 *
 *   I  IMEI     Y, O  decimal degrees     S  km/h     C  degrees     H  metres     b  battery, %
 *
 * Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'r16h',
  devices: 'R16H',
  port: 5266,
  frame: endsWith('$'),
  ends: '$',
  fields: { type: { like: '[A-Z]{4}' } },
  lines: [
    {
      like: '@GPSD,{imei},{any},{yyyymmdd},{hhmmss},{lat},{ns},{lon},{ew},{speedKmh},{course},{altitude}[,{batteryPercent}][,{any}]',
    },
    { like: '@LINK,{imei}[,{any}]', none: 'login' },
    { like: '@LBSD,{imei},{any:6},{batteryPercent}[,{any}]', none: 'cells' },
    { like: '@LBSD,{imei},{any}', none: 'cells' },
    { like: '@{type},{imei}[,{any}]', unknown: 'type' },
  ],
})
