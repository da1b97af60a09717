/*
 * Aquila tracking devices (Aquila, India). No specification is known: inferred from frames. TCP, text, lines:
 *
 *   $$c_v,I,e,Y,O,YYMMDDhhmmss,A,g,S,o,C[,s,P],…*XX     position; where P has a fraction, s and P are satellites and HDOP
 *   $$c_v,I,e,Y,O,YYMMDDhhmmss,A,g,…*XX                 short position
 *
 *   I  id        Y, O  decimal degrees     S  km/h          X  XOR of all before *
 *   e  event     A  A: valid, V: not       C  degrees
 *
 * Nothing is answered.
 */
import { type Draft, dop, line, textProtocol } from '../kit/index.ts'

const PLACE = '$${any},{id},{event},{lat},{lon},{ymd}{hhmmss},{valid}'

export default textProtocol({
  name: 'aquila',
  devices: 'Aquila trackers',
  acknowledges: 'nothing',
  accuracy: 'hdop',
  integrity: { sum: 'xor', from: 0, to: '*', digits: 2 },
  port: 5089,
  transports: ['tcp'],
  frame: line,
  fields: {
    event: { like: '\\d+' },
    dilution: { like: '\\d+\\.\\d+', read: (text: string, draft: Draft) => void (draft.hdop = dop(+text)) },
  },
  lines: [
    { like: `${PLACE},{any},{speedKmh},{any},{course},{satellites},{dilution},{any}` },
    { like: `${PLACE},{any},{speedKmh},{any},{course},{any}` },
    { like: `${PLACE},{any}` },
    { like: '$${any},{id},{any}', unknown: 'type' },
  ],
})
