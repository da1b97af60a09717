/*
 * ExtremTrac trackers: NMEA RMC sentences with the id as the first field, TCP, lines. No specification is known: inferred from frames.
 *
 *   $GPRMC,I,hhmmss.sss,A,Y,N,O,E,S,C,DDMMYY,…
 *
 *   I  id     A  A: valid, V: not     Y, O  ddmm.mmmm     S  knots     C  degrees
 *
 * Sentences without an id do not say whose they are: they are not read. Nothing is answered.
 */
import { type Draft, RMC, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'extremtrac',
  devices: 'ExtremTrac trackers',
  port: 5126,
  fields: { number: { like: '\\d+', read: (text: string, draft: Draft) => void (draft.device = text) } },
  lines: [{ like: `$GPRMC,{number},${RMC}[,{any}]` }, { like: '$GPRMC,{hms},{any}', unknown: 'position' }],
})
