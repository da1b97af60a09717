/*
 * Maestro M2M Gateway, UPV-02, MicroTracker MT-01 (Maestro Wireless). "MicroTracker MT-01, product specifications and software
 * manual", chapter 6, and frames. TCP and UDP, text:
 *
 *   @I,E,N,f,v,r,x,i,[YY]YY/MM/DD,hh:mm:ss,Y,O,H,S,C,s,P[,…]!
 *
 *   I  IMEI        f  1: GPS has a fix     Y, O  decimal degrees     C  degrees
 *   E  event       v  external power, V    H  metres                 s  satellites
 *   N  profile     r  signal               S  miles an hour          P  HDOP
 *   x  starter
 *   i  1: ignition; the frames show v rise with it, so that it is the vehicle's battery
 *
 * Nothing is answered: how the "UDP with ACK" of the manual is acknowledged is not known.
 */
import { between, type Draft, textProtocol } from '../kit/index.ts'

const HEAD = '@{imei},{any:2},{valid},{externalVolts},{any:2},{key},'
const PLACE =
  '/{month}/{day},{hour}:{minute}:{second},{lat},{lon},{altitude},{speedMph},{course},{satellites}[,{hdop}[,{any}]]!'

export default textProtocol({
  name: 'maestro',
  devices: 'Maestro M2M Gateway, UPV-02, MicroTracker MT-01',
  port: 5129,
  transports: ['tcp', 'udp'],
  frame: between('@', '!'),
  fields: { key: { read: readKey } },
  lines: [
    { like: `${HEAD}{yy}${PLACE}` },
    { like: `${HEAD}{yyyy}${PLACE}` },
    { like: '@{imei},{any}', unknown: 'type' },
  ],
})

function readKey(text: string, draft: Draft): void {
  if (text === '0' || text === '1') draft.says({ ignition: text === '1' })
}
