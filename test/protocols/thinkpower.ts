import { crc16CcittFalse } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

function frame(kind: number, content: Buffer): Buffer {
  const head = Buffer.concat([u(1, kind), u(1, 7), u(2, content.length), content])
  return Buffer.concat([head, u(2, crc16CcittFalse(head))])
}

const ID = '352093086403655'
const TIME = u(4, 1714558530)
const POSITION = Buffer.concat([TIME, bytes('01'), u(4, 525_250_000), u(4, 134_100_000), bytes('00000000')])
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: 13.41 }

export default {
  costly: { 'records without content': frame(5, Buffer.alloc(COSTLY_SIZE - 100, 0xff)) },
  frames: [
    {
      title: 'a login, a heartbeat, positions and events',
      frames: [
        {
          frame: frame(1, Buffer.concat([bytes('0102 0f'), Buffer.from(ID), bytes('0001')])),
          device: ID,
          none: 'login',
          reply: frame(2, bytes('00')),
        },
        { frame: frame(3, bytes('')), none: 'heartbeat', reply: frame(4, bytes('')) },
        {
          frame: frame(5, Buffer.concat([bytes('03'), POSITION, TIME, bytes('0201'), POSITION])),
          fixes: [FIX, FIX],
          reply: frame(6, bytes('')),
        },
        {
          frame: frame(5, Buffer.concat([bytes('01'), TIME, bytes('0201')])),
          none: 'no place',
          reply: frame(6, bytes('')),
        },
        { frame: frame(5, bytes('01 0102')), error: 'truncated', envelope: { reply: frame(6, bytes('')) } },
        { frame: frame(5, bytes('00')), none: 'no place', reply: frame(6, bytes('')) },
        { frame: frame(5, Buffer.concat([bytes('01'), TIME, bytes('09')])), fixes: [], reply: frame(6, bytes('')) },
      ],
    },
  ],
  corrections: [
    {
      reason: 'an event has no place',
      frames: ['thinkpower-002'],
      says: { positions: [] },
    },
  ],
} satisfies ProtocolCases
