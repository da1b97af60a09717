import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const PLACE = 'N52315000W013246000012270C0530304#\r'
const FIX = {
  time: '2026-11-20T14:26:11Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: knots(12),
  heading: 270,
  satellites: 12,
  said: { battery_percent: 5 },
}

export default {
  costly: { digits: `$GM2${many('1')}#\r`, 'one more': `$GM1${ID}T2011261426N${many('1')}#\r` },
  frames: [
    {
      title: 'positions and cells',
      frames: [
        { frame: `$GM23D${ID}T201126142611${PLACE}`, device: ID, fixes: [FIX] },
        { frame: `$GM1${ID}T2011261426${PLACE}`, device: ID, fixes: [{ ...FIX, time: '2026-11-20T14:26:00Z' }] },
        { frame: `$GM200${ID}T201126142611G25000001772F185200000000#\r`, device: ID, none: 'cells' },
        {
          frame: `$GM23D${ID}T201126142611${PLACE.replace('C053', 'C')}`,
          device: ID,
          fixes: [{ ...FIX, said: { battery_percent: 3 } }],
        },
        { frame: '$GM9#\r' },
      ],
    },
  ],
} satisfies ProtocolCases
