import { knots } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { commas: `^NB,1${many(',')}&`, 'one number': `^NB,1,N00,050923,233519,V,N,${many('1')}&` },
  frames: [
    {
      title: 'a position',
      frames: [
        {
          frame:
            '^NB,042,N00,201126,083519,A,N,5231.5000,W,01324.6000,12.5,270,000000000000,460:00:0:1,-04:00,,1795178119,31,2DA5&',
          device: '042',
          fixes: [{ time: 1795178119000, latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 }],
        },
        { frame: '^XX,042,1&', device: '042' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the frame says that its date and time are of the zone -04:00, and its unix time is four hours later',
      says: eachPosition(() => ({ time: '2023-09-06T03:35:19.000Z' })),
    },
  ],
} satisfies ProtocolCases
