/*
 * eSky EO, ET, EL trackers. No specification is known: inferred from frames. TCP and UDP, text without an end:
 *
 *   EO;n;I;R;s+YYMMDDhhmmss+Y+O+S+C+F+x+x+x+V+…     position; firmware of older devices has ; in place of +
 *   EL;n;I;YYMMDDhhmmss;                  login
 *
 *   F  hex, bit 0: the ignition is off     V  battery of the vehicle, 0.01 V
 *   I  IMEI     s  satellites     Y, O  decimal degrees, signed     S  m/s     C  degrees
 *
 * Nothing is answered.
 */
import { type Draft, startsWith, textProtocol } from '../kit/index.ts'

const PLACE = 'E{kind};{number};{imei};R;{satellites}+{ymd}{hhmmss}+{lat}+{lon}+{speedMs}+{course}'

export default textProtocol({
  name: 'esky',
  devices: 'eSky EO, ET, EL',
  port: 5147,
  transports: ['tcp', 'udp'],
  frame: startsWith('EO;', 'ET;', 'EL;'),
  fields: { number: { like: '\\d+' }, kind: { like: '[OT]' }, flags: { read: readFlags } },
  lines: [
    { like: `${PLACE}[+{flags}[+{any:3}+{externalVolts/100}[+{any}]]]` },
    { like: `${PLACE}+{flags}+{any}` },
    { like: 'E{kind};{number};{imei};R;{satellites};{ymd}{hhmmss};{lat};{lon};{speedMs};{course}[;{any}]' },
    { like: 'EL;{number};{imei};{any}', none: 'login' },
    { like: 'E{kind};{number};{imei};{any}', unknown: 'type' },
  ],
})

function readFlags(text: string, draft: Draft): void {
  const flags = Number.parseInt(text, 16)
  if (Number.isFinite(flags)) draft.says({ ignition: (flags & 1) === 0 })
}
