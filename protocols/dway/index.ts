/*
 * Digitalway DWAY trackers. No specification is known: inferred from frames. TCP, lines:
 *
 *   AA55,n,I,k,YYMMDD,hhmmss,Y,O,H,S,C,x,x,x,B,x,x,r,…     position
 *   AA55,HB                                  heartbeat; answer 55AA,HB,OK
 *
 *   I  id     Y, O  decimal degrees     H  metres     S  km/h     C  degrees
 *   B  battery, mV     r  the driver's card (inferred)
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'dway',
  devices: 'Digitalway DWAY',
  acknowledges: 'some',
  port: 5150,
  fields: { number: { like: '\\d+' }, kind: { like: '\\d+' } },
  lines: [
    {
      like: 'AA55,{number},{id},{kind},{ymd},{hhmmss},{lat},{lon},{altitude},{speedKmh},{course}[,{any:3},{batteryVolts/1000},{any:2},{driver}][,{any}]',
    },
    { like: 'AA55,HB[,{any}]', none: 'heartbeat', answer: '55AA,HB,OK\r\n' },
    { like: 'AA55,{any}', unknown: 'type' },
  ],
})
