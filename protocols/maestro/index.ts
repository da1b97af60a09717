/*
 * Maestro M2M Gateway and UPV-02 (Maestro Wireless). No specification is known: inferred from frames. TCP, text:
 *
 *   @I,E,N,f,v,r,x,i,YY/MM/DD,hh:mm:ss,Y,O,H,S,C,s,P[,…]!
 *
 *   I  IMEI        f  1: GPS has a fix     Y, O  decimal degrees     C  degrees
 *   E  event       v  external power, V    H  metres                 s  satellites
 *   N  model       r  signal               S  miles an hour          P  HDOP
 *   i  1: ignition; the frames show v rise with it, so that it is the vehicle's battery
 *
 * Nothing is answered.
 */
import { between, type Draft, textProtocol } from '../kit/index.ts'

const TIME = '{yy}/{month}/{day},{hour}:{minute}:{second}'

export default textProtocol({
  name: 'maestro',
  devices: 'Maestro M2M Gateway, UPV-02',
  port: 5129,
  frame: between('@', '!'),
  fields: { key: { read: readKey } },
  lines: [
    {
      like: `@{imei},{any:2},{valid},{externalVolts},{any:2},{key},${TIME},{lat},{lon},{altitude},{speedMph},{course},{satellites}[,{hdop}[,{any}]]!`,
    },
    { like: '@{imei},{any}', unknown: 'type' },
  ],
})

function readKey(text: string, draft: Draft): void {
  if (text === '0' || text === '1') draft.says({ ignition: text === '1' })
}
