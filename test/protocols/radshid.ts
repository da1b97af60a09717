import { ByteWriter } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: 10,
  altitude: -12,
  heading: 270,
  satellites: 9,
}

export default {
  costly: { 'records of zeros': message(255, '00'.repeat(65_000)) },
  frames: [
    {
      title: 'records',
      frames: [
        {
          frame: message(2, record('a0', 2) + record('e0', 32)),
          device: '352123670',
          fixes: [FIX, FIX],
          reply: Buffer.from('0700000082017e00000001', 'hex'),
        },
        {
          frame: message(2, record('a0', 2)),
          error: 'truncated',
          envelope: { device: '352123670', reply: Buffer.from('0700000082013400000001', 'hex') },
        },
        {
          frame: message(0, ''),
          device: '352123670',
          none: 'no place',
          reply: Buffer.from('0700000082010800000001', 'hex'),
        },
        {
          frame: message(1, record('90', 4)),
          device: '352123670',
          fixes: [],
          reply: Buffer.from('0700000082013600000001', 'hex'),
        },
      ],
    },
  ],
} satisfies ProtocolCases

function message(count: number, records: string): Buffer {
  const w = new ByteWriter()
    .u32le(8 + records.length / 2)
    .hex('0114fcfb16')
    .u8(count)
    .hex(records)
  return w.hex('657a').toBuffer()
}

function record(groups: string, more: number): string {
  const w = new ByteWriter()
    .hex('01e000000000000000')
    .u32(Date.parse(FIX.time) / 1000)
    .u8(36)
    .hex('00'.repeat(13))
  w.hex(groups)
    .u8(0)
    .u32(525_250_000)
    .u32(-134_100_000)
    .u16(-12 & 0xffff)
    .u16(270)
    .u8(9)
  return w.hex('00'.repeat(more)).toBuffer().toString('hex')
}
