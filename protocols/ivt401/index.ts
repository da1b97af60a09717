/*
 * IVT 401 trackers (India). No specification is known: inferred from frames. TCP, text that ends with ;
 *
 *   (TLx,I,DDMMYY,hhmmss,Y,O,S,C,H,s,f,r,i,o,a,p,b,T,x,m,g,…);     A and L end with … 16 fields, D and 3 fields
 *
 *   x  kind: N, A, L     I  IMEI     Y, O  decimal degrees     S  km/h     C  degrees     H  metres     s  satellites
 *   p, b  external power, own battery, V     m  1: moves            D  the driver's card
 *
 * Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

const PLACE = '(TL{kind},{imei},{dmy},{hhmmss},{lat},{lon},{speedKmh},{course},{altitude},{satellites}'
const STATE = ',{any:5},{externalVolts},{batteryVolts},{any:2},{moving},{any}'

export default textProtocol({
  name: 'ivt401',
  devices: 'IVT 401',
  port: 5153,
  frame: endsWith(';'),
  ends: ';',
  fields: { kind: { like: '[A-Z]+' }, last: { like: '[^,)]*' } },
  lines: [
    { like: `${PLACE}${STATE},{any:16},{driver},{any:2},{last})` },
    { like: `${PLACE}${STATE}[,{any}]` },
    { like: `${PLACE}[,{any}]` },
    { like: '({any},{imei},{any}', unknown: 'type' },
  ],
})
