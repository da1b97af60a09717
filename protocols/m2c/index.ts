/*
 * M2C tracking units (India). No specification is known: inferred from frames. TCP, several lines in brackets:
 *
 *   [#M2C,m,v,p,I,n,k,f,b,YYMMDD,hhmmss,Y,O,H,C,S,s,x,x,x,V,v,…*XXXX CR LF #M2C,…]
 *
 *   V, v  external voltage, battery, mV
 *   I  IMEI     k  L: live, H: from memory     Y, O  decimal degrees     C  degrees     s  satellites
 *   n  index    X  a sum that is not known     H     metres              S  km/h        Nothing is answered.
 */
import { between, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'm2c',
  devices: 'M2C units',
  integrity: { none: 'which sum the digits at the end of a line are is not known' },
  port: 5157,
  frame: between('[', ']'),
  ends: ']',
  lines: [
    {
      like: '\\[{records}',
      fixes: {
        split: '\r\n',
        like: [
          '#M2C,{any:3},{imei},{any:4},{ymd},{hhmmss},{lat},{lon},{altitude},{course},{speedKmh},{satellites},{any:3},{externalVolts/1000},{batteryVolts/1000},{any}',
          '#M2C,{any:3},{imei},{any:4},{ymd},{hhmmss},{lat},{lon},{altitude},{course},{speedKmh},{satellites},{any}',
        ],
      },
    },
  ],
})
