/*
 * GT30, GT60 of Gosafe's early clones. No specification is known: inferred from frames. TCP, lines:
 *
 *   $$LLLLIIIIIIIIIIIIIIttttahhmmss.sss,A,Y,N,O,E,S,C,DDMMYY,,*XX|P|HKKKK
 *
 *   L  length, hexadecimal              t  9955: position, 9999: alarm, with its kind a     P  HDOP
 *   I  id, filled with blanks           A  A: valid, V: not                                 H  metres
 *   Y, O  ddmm.mmmm, S  knots, C  degrees                                                   K  a sum that is not known
 *
 * Nothing is answered.
 */
import { type Alarm, type Draft, textProtocol } from '../kit/index.ts'

const PLACE = '{hms},{valid},{latNmea},{ns},{lonNmea},{ew},{speedKnots},{course},{dmy},{any}|{hdop}|{end}'

/** SOS and two call buttons, low battery, movement. */
const ALARMS = {
  '\x01': 'sos',
  '\x02': 'sos',
  '\x03': 'sos',
  '\x10': 'low_battery',
  '\x12': 'movement',
} satisfies Record<string, Alarm>

export default textProtocol({
  name: 'gt30',
  devices: 'GT30, GT60',
  integrity: { none: 'which sum the four digits at the end are is not known' },
  port: 5131,
  fields: {
    length: { like: '[0-9A-F]{4}' },
    filled: { like: '[0-9 ]{14}', read: (text: string, draft: Draft) => void (draft.device = text.trim()) },
    kind: { like: '[^0-9]', alarms: ALARMS },
    end: { read: (text: string, draft: Draft) => void (draft.altitude = Number.parseFloat(text.slice(0, -4))) },
  },
  lines: [
    { like: `$\${length}{filled}9955${PLACE}` },
    { like: `$\${length}{filled}9999{kind}${PLACE}` },
    { like: '$${length}{filled}{any}', unknown: 'type' },
  ],
})
