/*
 * Milesmate trackers. No specification is known: inferred from frames. TCP, lines:
 *
 *   ApiString={A:I,B:b,C:x,D:hhmmss,E:ddmm.mmmmN,F:dddmm.mmmmE,G:S,H:DDMMYY,I:f,J:i…,K:…,L:…,M:C}
 *
 *   I  IMEI          S  km/h        f  G: fixed by GPS; L: the last known position
 *   i  1: the ignition is on (inferred)
 *   b  battery of the vehicle, V    C  degrees     Answer: +##Received OK
 */
import { type Draft, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'milesmate',
  devices: 'Milesmate trackers',
  acknowledges: 'fixes',
  port: 5176,
  fields: {
    state: { like: '[^,]*', read: (text: string, draft: Draft) => draft.says({ ignition: text.startsWith('1') }) },
    source: { like: '[A-Z]', read: (text: string, draft: Draft) => void (draft.valid = text === 'G') },
  },
  lines: [
    {
      like: 'ApiString=\\{A:{imei},B:{externalVolts},C:{any},D:{hhmmss},E:{latNmea}{ns},F:{lonNmea}{ew},G:{speedKmh},H:{dmy},I:{source},J:{state},{any:2},M:{course}\\}',
      answer: '+##Received OK\n',
    },
    { like: 'ApiString=\\{A:{imei},{any}', unknown: 'type' },
  ],
})
