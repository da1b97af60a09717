/*
 * Milesmate trackers. No specification is known: inferred from frames. TCP, lines:
 *
 *   ApiString={A:I,B:b,C:x,D:hhmmss,E:ddmm.mmmmN,F:dddmm.mmmmE,G:S,H:DDMMYY,I:f,J:…,K:…,L:…,M:C}
 *
 *   I  IMEI          S  km/h        f  G: fixed by GPS; L: the last known position
 *   b  battery, V    C  degrees     Answer: +##Received OK
 */
import { type Draft, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'milesmate',
  devices: 'Milesmate trackers',
  acknowledges: 'fixes',
  port: 5176,
  fields: { source: { like: '[A-Z]', read: (text: string, draft: Draft) => void (draft.valid = text === 'G') } },
  lines: [
    {
      like: 'ApiString=\\{A:{imei},B:{any},C:{any},D:{hhmmss},E:{latNmea}{ns},F:{lonNmea}{ew},G:{speedKmh},H:{dmy},I:{source},{any:3},M:{course}\\}',
      answer: '+##Received OK\n',
    },
    { like: 'ApiString=\\{A:{imei},{any}', unknown: 'type' },
  ],
})
