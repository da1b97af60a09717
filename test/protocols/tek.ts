import { crc16Xmodem, kmh } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

function frame(kind: number, text: string): Buffer {
  const covered = Buffer.concat([
    bytes('0501e304e00e76 0861075020000017'),
    Buffer.of(kind, text.length + 2),
    Buffer.from(text),
  ])
  return Buffer.concat([covered, u(2, crc16Xmodem(covered))])
}

const ID = '861075020000017'

export default {
  costly: { commas: frame(0x11, many(',')), digits: frame(0x11, `,1,101530,${many('1')}N,`) },
  frames: [
    {
      title: 'a position, no fix, levels and a kind that is not known',
      frames: [
        {
          frame: frame(0x11, ',33,101530.0,5231.5000N,01324.6000W,0.9,34.8,2,270.00,36.0,19.4,010524,06,'),
          device: ID,
          fixes: [
            {
              time: '2024-05-01T10:15:30Z',
              latitude: 52.525,
              longitude: -13.41,
              altitude: 34.8,
              speed: kmh(36),
              heading: 270,
              hdop: 0.9,
              satellites: 6,
            },
          ],
        },
        { frame: frame(0x11, ',33,,,,,,,'), device: ID, none: 'no fix' },
        { frame: frame(0x04, '\0'), device: ID, none: 'sensors' },
        { frame: frame(0x77, '\0'), device: ID },
      ],
    },
  ],
  corrections: [
    {
      reason: 'levels of a tank are no position',
      frames: ['tek-001', 'tek-002'],
      says: { positions: [] },
    },
  ],
} satisfies ProtocolCases
