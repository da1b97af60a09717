/*
 * eSky EO, ET, EL trackers. No specification is known: inferred from frames. TCP and UDP, text without an end:
 *
 *   EO;n;I;R;s+YYMMDDhhmmss+Y+O+S+C+…     position; firmware of older devices has ; in place of +
 *   EL;n;I;YYMMDDhhmmss;                  login
 *
 *   I  IMEI     s  satellites     Y, O  decimal degrees, signed     S  m/s     C  degrees
 *
 * Nothing is answered.
 */
import { startsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'esky',
  devices: 'eSky EO, ET, EL',
  port: 5147,
  transports: ['tcp', 'udp'],
  frame: startsWith('EO;', 'ET;', 'EL;'),
  fields: { number: { like: '\\d+' }, kind: { like: '[OT]' } },
  lines: [
    { like: 'E{kind};{number};{imei};R;{satellites}+{ymd}{hhmmss}+{lat}+{lon}+{speedMs}+{course}[+{any}]' },
    { like: 'E{kind};{number};{imei};R;{satellites};{ymd}{hhmmss};{lat};{lon};{speedMs};{course}[;{any}]' },
    { like: 'EL;{number};{imei};{any}', none: 'login' },
    { like: 'E{kind};{number};{imei};{any}', unknown: 'type' },
  ],
})
