/*
 * eSeal electronic seals. No specification is known: inferred from frames. TCP, lines:
 *
 *   ##S,eSeal,I,n,v,k,x,YYYY-MM-DD,hh:mm:ss,m,A,Y[N] O[E],S,C,x,x,x,b,…,E##     report with a position; answer ##S,eSeal,I,n,v,k ACK,x,null,E##
 *   ##S,eSeal,I,n,v,k,…,E##                                             others
 *
 *   I  id     k  kind: Startup, Normal, Alarm …     A  A: valid, V: not     Y, O  decimal degrees     S  km/h     C  degrees
 *   b  battery, V
 */
import { textProtocol } from '../kit/index.ts'

const HEAD = '##S,eSeal,{id},{number},{version},{kind},'

export default textProtocol({
  name: 'eseal',
  devices: 'eSeal electronic seals',
  acknowledges: 'fixes',
  port: 5169,
  fields: { number: { like: '\\d+' }, version: {}, kind: {}, index: {} },
  lines: [
    {
      like: `${HEAD}{index},{yyyy}-{month}-{day},{hour}:{minute}:{second},{any},{valid},{lat}{ns} {lon}{ew},{speedKmh},{course},{any:3},{batteryVolts},{any}`,
      answer: '##S,eSeal,{id},{number},{version},{kind} ACK,{index},null,E##\r\n',
    },
    {
      like: `${HEAD}{index},{yyyy}-{month}-{day},{hour}:{minute}:{second},{any},{valid},{lat}{ns} {lon}{ew},{speedKmh},{course},{any}`,
      answer: '##S,eSeal,{id},{number},{version},{kind} ACK,{index},null,E##\r\n',
    },
    { like: `${HEAD}{any}`, unknown: 'type' },
  ],
})
