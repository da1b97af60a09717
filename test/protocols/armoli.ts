import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { digits: `[M${many('1')};`, 'a number without an end': `[M${ID}201126150010N52.525000W${many('0')};` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `[M${ID}201126150010N52.525000W013.4100002A24270000000010003513209FFGC18080#E209C4];`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T15:00:10Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: kmh(36),
              heading: 270,
              satellites: 10,
            },
          ],
        },
        {
          frame: `[M${ID}201126150010N52.525000W013.4100002A24270000000010003513209FFGC18080H8DA#E209C4];`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T15:00:10Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: kmh(36),
              heading: 270,
              satellites: 10,
              said: { external_voltage: 22.66 },
            },
          ],
        },
        { frame: `[M${ID}V];`, device: ID, fixes: [] },
        { frame: '[Q1];' },
      ],
    },
  ],
} satisfies ProtocolCases
