import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const FIX = { time: '2026-11-20T17:14:18Z', latitude: 52.525, longitude: -13.41, speed: kmh(36), heading: 270 }

export default {
  costly: { commas: `%%van${many(',')}\n`, 'one number': `%%van,A,261120171418,N${many('1')}\n` },
  frames: [
    {
      title: 'a heartbeat and positions',
      frames: [
        { frame: '%%van,1\r\n', device: 'van', none: 'heartbeat', reply: '&&1\r\n' },
        {
          frame: '%%van,A,261120171418,N5231.5000W01324.6000,036,270,NA,47010000,108\r\n',
          device: 'van',
          fixes: [FIX],
        },
        {
          frame: '%%van,L,261120171418,N5231.5000W01324.6000,036,270,C80:F0,00020008,108,CFG:6980.00|\r\n',
          device: 'van',
          fixes: [{ ...FIX, valid: false }],
        },
        { frame: '%%van,L,261120171418,,,,C80:F0\r\n', device: 'van', none: 'no fix' },
        { frame: '%%van\r\n' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the field behind the course may hold anything: this is a position too',
      frames: ['tr20-000'],
      says: {
        positions: [
          {
            time: '2025-05-23T15:28:52.000Z',
            valid: true,
            lat: 9.861397,
            lon: -83.950368,
            altitude: 0,
            speedKnots: 0,
            course: 0,
          },
        ],
      },
    },
  ],
} satisfies ProtocolCases
