import { kmh, sum16 } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

function frame(kind: string, content: Buffer): Buffer {
  const covered = Buffer.concat([Buffer.from('HASIH014700148,'), bytes(kind), u(2, content.length), content])
  return Buffer.concat([covered, u(2, sum16(covered))])
}

const position = (flags: string) =>
  Buffer.concat([u(4, 1714558530), bytes(flags), u(4, 52_315_000), u(4, 133_246_000), bytes('24 5a a410f5000000 00')])
const LONGITUDE = 133 + 24.6 / 60
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: LONGITUDE, speed: kmh(36), heading: 90 }

export default {
  costly: { 'a long login': frame('80', Buffer.alloc(COSTLY_SIZE - 100, 0x31)) },
  frames: [
    {
      title: 'a login, positions and a kind that is not known',
      frames: [
        {
          frame: frame('80', Buffer.from('\x01460001460000017')),
          device: '460001460000017',
          none: 'login',
          reply: Buffer.concat([Buffer.from('HRSIH014700148,'), bytes('80000280000000')]),
        },
        { frame: frame('90', position('d7')), fixes: [FIX] },
        {
          frame: frame('90', position('d0')),
          fixes: [{ ...FIX, latitude: -52.525, longitude: -LONGITUDE, valid: false }],
        },
        { frame: frame('91', bytes('00')) },
      ],
    },
  ],
} satisfies ProtocolCases
