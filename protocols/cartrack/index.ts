/*
 * CarTrack trackers and clones. No specification is known: inferred from frames. TCP, text that ends with ##:
 *
 *   $$I???&A9955&Bhhmmss.sss,A,Y,N,O,E,S,C,DDMMYY,…*XX|P|&C…&D…&E…##     position: what stands in $GPRMC
 *   $$I???&A0000##                                                       login
 *
 *   I  id, ? fills it up     Y, O  ddmm.mmmm     S  knots     C  degrees     P  HDOP
 *
 * The sum X is that of the sentence with a type that is not sent, and not checked. Nothing is answered.
 */
import { endsWith, RMC, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'cartrack',
  devices: 'CarTrack trackers and clones',
  integrity: { none: 'the sum is that of a sentence that is not sent whole' },
  port: 5061,
  frame: endsWith('##'),
  ends: '#',
  fields: { id: { like: '[0-9A-Za-z]+' }, filling: { like: '[?]*' }, kind: { like: '\\d{4}' } },
  lines: [
    { like: `$\${id}{filling}&A{kind}&B${RMC},{any}|{hdop}|{any}` },
    { like: `$\${id}{filling}&A{kind}&B${RMC}{any}` },
    { like: '$${id}{filling}&A0000', none: 'login' },
    { like: '$${id}{filling}&A{any}', unknown: 'type' },
  ],
})
