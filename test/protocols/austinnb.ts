import { many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { semicolons: `42;2026${many(';')}`, 'one number': `42;2026-11-20 15:00:10;${many('1')}` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: '42;2026-11-20 15:00:10;52,525;-13,41;270;120;2292;1;NAME',
          device: '42',
          fixes: [{ time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41, heading: 270 }],
        },
        {
          frame: '42;2026-11-20 15:00:10;52.525;-13.41;270;120;2292;1;NAME',
          device: '42',
          fixes: [{ time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41, heading: 270 }],
        },
        { frame: '42;2026-11-20 15:00:10;;;270;120', device: '42', fixes: [] },
      ],
    },
  ],
} satisfies ProtocolCases
