import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const ID = '2162000777'

function packet(items: string): Buffer {
  const body = bytes(items)
  return new ByteWriter()
    .u8(0xaa)
    .u16(9 + body.length)
    .hex('8600')
    .u32(Number(ID))
    .bytes(body)
    .xor(1)
    .toBuffer()
}

const POSITION = '20 01 1f00 4000 80 146f 1388 052c 1770 00000000000000 180501170f1e 005ac7a6'
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41 }

export default {
  costly: { 'small items': packet('038100'.repeat(21_000)), states: packet('038400'.repeat(21_000)) },
  frames: [
    {
      title: 'positions with a state in front of them, which is answered',
      frames: [
        { frame: packet(POSITION), device: ID, fixes: [FIX] },
        {
          frame: packet(`${POSITION} 2112 5f 00020000 00 bb ${'00'.repeat(24)}`),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true } }],
        },
        {
          frame: packet(`2112 5f 00020000 00 b7 ${'00'.repeat(24)}`),
          device: ID,
          none: 'status',
          said: { ignition: false },
        },
        ...['2112 5f 00020000', '0281 03', '0084'].map((cut) => ({
          frame: packet(`0b84 03 8000103200000000 ${POSITION} ${cut}`),
          device: ID,
          fixes: [FIX],
          reply: bytes('aa000b860006a4000300002c'),
        })),
        {
          frame: packet('0b84 03 8000103200000000 0401 1f00'),
          error: 'truncated',
          envelope: { device: ID, reply: bytes('aa000b860006a4000300002c') },
        },
        {
          frame: packet(`0b84 03 8000103200000000 ${POSITION}`),
          device: ID,
          fixes: [FIX],
          reply: bytes('aa000b860006a4000300002c'),
        },
        { frame: packet(`0c81 1f 800001140202071705 ${POSITION}`), device: ID, fixes: [FIX] },
        { frame: packet('0c81 1f 800001140202071705'), device: ID, none: 'status' },
        { frame: packet('0402 1f00'), device: ID },
        { frame: packet('0281'), error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases
