/*
 * Sanav GX-101, MU-201, CT-24 and clones: "Sanav protocol" around an NMEA sentence, TCP and UDP, text without an end:
 *
 *   imei=I&rmc=$GPRMC,hhmmss,A,Y,N,O,E,S,C,DDMMYY,…     imei:Irmc:$GPRMC,…
 *
 *   I  IMEI     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots     C  degrees
 *
 * Nothing is answered.
 */
import { type Draft, RMC, startsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'sanav',
  devices: 'Sanav GX-101, MU-201, CT-24',
  integrity: { none: 'the sentence has one, which these devices do not always send' },
  port: 5051,
  transports: ['tcp', 'udp'],
  frame: startsWith('imei=', 'imei:'),
  fields: { digits: { like: '\\d+', read: (text: string, draft: Draft) => void (draft.device = text) } },
  lines: [
    { like: `imei={id}&rmc=$GPRMC,${RMC}{any}` },
    { like: `imei:{digits}rmc:$GPRMC,${RMC}{any}` },
    { like: 'imei={id}&{any}', unknown: 'type' },
  ],
})
