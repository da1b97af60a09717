/*
 * Disha trackers (India). No specification is known: inferred from frames. TCP, text that begins with $ and ends with *:
 *
 *   $A#A#I#A#hhmmss#DDMMYY#Y#N#O#E#S#C#s#P#x#c#b#…*
 *
 *   I  IMEI     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots     C  degrees     s  satellites     P  HDOP
 *   c  0: the battery is not being charged     b  its charge, %
 *
 * Nothing is answered.
 */
import { between, type Draft, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'disha',
  devices: 'Disha trackers',
  port: 5097,
  frame: between('$', ['*', '\n']),
  ends: '*',
  fields: {
    kind: { like: '[A-Z]' },
    charger: { like: '\\d', read: (text: string, draft: Draft) => draft.says({ charging: text !== '0' }) },
  },
  lines: [
    {
      like: '$A#{kind}#{imei}#{valid}#{hhmmss}#{dmy}#{latNmea}#{ns}#{lonNmea}#{ew}#{speedKnots}#{course}#{satellites}#{hdop}[#{any}#{charger}#{batteryPercent}][#{any}]',
    },
    { like: '${any}#{any}#{imei}#{any}', unknown: 'type' },
  ],
})
