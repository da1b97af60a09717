import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, eachPosition } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const PLACE = '01324.6000,W,5231.5000,N,12.50,270.00#201126#150010.000'
const FIX = { time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 }

const at = (time: string, longitude: number, latitude: number, speedKnots: number, course: number) => ({
  time: `2013-08-28T${time}Z`,
  lon: -(71 + longitude / 60),
  lat: 10 + latitude / 60,
  speedKnots,
  course,
})
const OTHERS = [
  at('14:28:46', 36.4088, 40.058, 0.49, 288),
  at('14:28:56', 36.4098, 40.059, 0.59, 264),
  at('14:29:06', 36.4093, 40.0605, 0.3, 264),
]

export default {
  costly: {
    hashes: `#${ID}#user#1#0000#AUT${many('#1')}##`,
    'a frame without records': `#${ID}#user#1#0000#AUT#1#${many('1')}##`,
  },
  frames: [
    {
      title: 'positions with a user',
      frames: [
        {
          frame: `#${ID}#user#1#0000#SOS#1#27bc10af#${PLACE}##`,
          device: ID,
          fixes: [{ ...FIX, said: { alarms: ['sos'] } }],
        },
        { frame: `#${ID}#user#1#0000#AUT#1##${PLACE}##`, device: ID, fixes: [FIX] },
        { frame: `#${ID}#user#1#0000#AUT#1#27bc10af#${PLACE.replace(',W', 'W')}##`, device: ID, fixes: [] },
        {
          frame: `#${ID}#user#1#0000#AUT#1#27bc10af#${PLACE.replace('201126', '321326')}##`,
          error: 'malformed',
          envelope: { device: ID },
        },
        {
          frame: `#${ID}#user#0#0000#AUT#2#V#${PLACE}#V#${PLACE.replace('0010', '0020')}##`,
          device: ID,
          fixes: [
            { ...FIX, valid: false },
            { ...FIX, time: '2026-11-20T15:00:20Z', valid: false },
          ],
        },
        { frame: `#${ID}#user#1#0000#alarm-2 on#1#27bc10af#${PLACE.replace(',W', ',w')}##`, device: ID, fixes: [FIX] },
        {
          frame: `#${ID}#user#1#0000#AUT#1#7240#00000.0000,E,0000.0000,N,0.00,#000000#000000.000##`,
          device: ID,
          none: 'no date',
        },
        { frame: `#${ID}#user#0#0000#AUT#01#46000027b8f34#0,E,0,N,0,0#0#0##`, device: ID, none: 'no date' },
      ],
    },
    {
      title: 'positions without a user',
      frames: [
        { frame: `#${ID}##`, device: ID, none: 'login' },
        { frame: `1#0000#AUT#01#23403007fa650e#${PLACE}##`, fixes: [FIX] },
        { frame: 'GET / HTTP/1.1##', error: 'unsupported' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the event is SOS',
      frames: ['v680-004'],
      says: eachPosition(({ said }) => ({ said: { ...said, alarms: ['sos'] } })),
    },
    {
      reason: 'the number of positions says 4, and there are 4',
      frames: ['v680-015'],
      says: ({ positions: [first] }) => ({
        positions: [first, { ...first, ...OTHERS[0] }, { ...first, ...OTHERS[1] }, { ...first, ...OTHERS[2] }],
      }),
    },
  ],
} satisfies ProtocolCases
