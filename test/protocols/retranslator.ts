import { kmh } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const ID = '352093086403655'

function packet(...blocks: readonly Buffer[]): Buffer {
  const content = Buffer.concat([Buffer.from(`${ID}\0`), u(4, 1714558530), u(4, 3), ...blocks])
  return Buffer.concat([u(4, content.length).toReversed(), content])
}

function block(type: number, name: string, value: Buffer): Buffer {
  const content = Buffer.concat([Buffer.of(1, type), Buffer.from(`${name}\0`), value])
  return Buffer.concat([bytes('0bbb'), u(4, content.length), content])
}

const PLACE = Buffer.alloc(29)
PLACE.writeDoubleLE(-13.41, 0)
PLACE.writeDoubleLE(52.525, 8)
PLACE.writeDoubleLE(34, 16)
PLACE.writeUInt16BE(36, 24)
PLACE.writeUInt16BE(270, 26)
PLACE[28] = 8
const OTHER = block(3, 'mcc', u(4, 262))

export default {
  costly: {
    'blocks with a name alone': packet(...Array.from({ length: 7000 }, () => block(1, '', Buffer.alloc(0)))),
  },
  frames: [
    {
      title: 'packets with and without a position',
      frames: [
        {
          frame: packet(OTHER, block(2, 'posinfo', PLACE)),
          device: ID,
          fixes: [
            {
              time: '2024-05-01T10:15:30Z',
              latitude: 52.525,
              longitude: -13.41,
              altitude: 34,
              speed: kmh(36),
              heading: 270,
              satellites: 8,
            },
          ],
          reply: bytes('11'),
        },
        { frame: packet(OTHER), device: ID, none: 'no place', reply: bytes('11') },
      ],
    },
  ],
} satisfies ProtocolCases
