/*
 * Cradlepoint routers with GPS. No specification was found: inferred from frames, in the order that the router's defaults have.
 * TCP, lines:
 *
 *   I,hhmmss,Y,N,O,E,S,C,carrier,…     I  id     Y, O  ddmm.mmmm     S  knots     C  degrees
 *
 * Without a date: the time of day that is nearest to the arrival; its leading zeros may be missing. Nothing is answered.
 */
import { type Draft, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'cradlepoint',
  devices: 'Cradlepoint routers',
  port: 5118,
  fields: { clock: { like: '\\d{1,6}', read: readClock } },
  lines: [
    { like: '{id},{clock},{latNmea},{ns},{lonNmea},{ew},{speedKnots}[,{course}[,{any}]]' },
    { like: '{id},{clock},,,,[,{any}]', none: 'no place' },
  ],
})

function readClock(text: string, draft: Draft): void {
  const [hour, minute, second] = [0, 2, 4].map((at) => +text.padStart(6, '0').slice(at, at + 2))
  draft.clock = ((hour * 60 + minute) * 60 + second) * 1000
}
