import { kmh } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = {
  time: '2026-11-20T08:35:06Z',
  latitude: 52.525,
  longitude: 13.41,
  speed: kmh(36),
  heading: 126.86,
  said: { ignition: false, external_voltage: 9.8 },
}
const frame = (source: string) =>
  `ApiString={A:${ID},B:09.8,C:00.0,D:083506,E:5231.5000N,F:01324.6000E,G:036.00,H:201126,I:${source},J:00004100,K:0000000A,L:1234,M:126.86}\r\n`

export default {
  costly: {
    commas: `ApiString={A:${ID},${many('B:,')}}\n`,
    'one number': `ApiString={A:${ID},B:1,C:1,D:083506,E:${many('1')}\n`,
  },
  frames: [
    {
      title: 'positions',
      frames: [
        { frame: frame('G'), device: ID, fixes: [FIX], reply: '+##Received OK\n' },
        { frame: frame('L'), device: ID, fixes: [{ ...FIX, valid: false }], reply: '+##Received OK\n' },
        {
          frame: frame('G').replace('B:09.8', 'B:').replace('J:0', 'J:1'),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true } }],
          reply: '+##Received OK\n',
        },
        ...['N.A', 'ff', '9.8V'].map((volts) => ({
          frame: frame('G').replace('09.8', volts),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: false } }],
          reply: '+##Received OK\n',
        })),
        { frame: `ApiString={A:${ID},B:09.8}\r\n`, device: ID },
      ],
    },
  ],
  corrections: [
    {
      reason:
        'the sixth digit of J is 1 in all frames, whatever the voltage: main power, not that the battery is charged',
      says: eachSaid((each) => ({ ...each, charging: undefined })),
    },
    {
      reason: '9.8 to 12.7 V are the battery of the vehicle',
      says: eachPosition(({ said }) => ({ said: { ...said, batteryV: undefined, powerV: said?.batteryV } })),
    },
  ],
} satisfies ProtocolCases
