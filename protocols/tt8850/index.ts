/*
 * Truetrack TT8850 and other trackers on Queclink's early @Track binary-text protocol. No specification is known: inferred from
 * frames. TCP, text behind two bytes:
 *
 *   ll,n,x,GTEEE,v,I,name,i,t,k,P,S,C,H,O,Y,YYYYMMDDhhmmss,…$
 *
 *   E  report     I  IMEI     P  HDOP, 0: no fix     S  km/h     C  degrees     H  metres     Y, O  decimal degrees
 *
 * Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

const HEAD = '{any:3},GT{report},{any},{imei},'

export default textProtocol({
  name: 'tt8850',
  devices: 'Truetrack TT8850',
  port: 5079,
  frame: endsWith('$'),
  ends: '$',
  fields: { report: { like: '[A-Z]{3}' } },
  lines: [
    {
      like: `${HEAD}{any:4},{hdop},{speedKmh},{course},{altitude},{lon},{lat},{yyyymmdd}{hhmmss}[,{any}]`,
    },
    { like: `${HEAD}{any:4},{any},,,,{any},{any},,{any}`, none: 'no fix' },
    { like: `${HEAD}{any}`, unknown: 'type' },
  ],
})
