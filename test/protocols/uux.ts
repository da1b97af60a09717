import { bytes } from '../support/encode.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const frame = (kind: string, content: Buffer) =>
  Buffer.concat([bytes(`8191 ${kind}`), Buffer.of(content.length), content])
const position = (text: string) =>
  frame(
    '0c',
    Buffer.concat([bytes('90'), Buffer.from('19U3D60001'), bytes('0a010a0f1e 07397079712a'), Buffer.from(text)]),
  )
const FIX = { time: '2026-10-01T10:15:30Z', latitude: 52.525, longitude: -13.41, heading: 270, satellites: 8 }

export default {
  costly: { digits: position(many('A1')) },
  frames: [
    {
      title: 'positions, no fix, an answer and a keep-alive',
      frames: [
        { frame: position('A085231.5000N01324.6000W000270000000'), device: '19U3D60001', fixes: [FIX] },
        {
          frame: position('V005231.5000S01324.6000E000270000000'),
          device: '19U3D60001',
          fixes: [{ ...FIX, latitude: -52.525, longitude: 13.41, satellites: 0, valid: false }],
        },
        { frame: position('000000'), device: '19U3D60001', none: 'no fix' },
        { frame: frame('8c', Buffer.from('\x9e19U3D60001', 'latin1')), device: '19U3D60001', none: 'command answer' },
        { frame: frame('0b', bytes('ff')), none: 'heartbeat' },
        { frame: frame('0d', bytes('ff')) },
      ],
    },
  ],
} satisfies ProtocolCases
