import { ByteWriter } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { 'a frame of 64 KB': `<PRI0003${'x'.repeat(65_000)}>` },
  frames: [
    {
      title: 'a position, one without a fix',
      frames: [
        {
          frame: frame('0105180a0f1e'),
          device: 'PRI0003',
          fixes: [{ time: '2024-05-01T10:15:30Z', latitude: -52.525, longitude: 13.41, speed: 10 }],
          reply: 'ACK',
        },
        {
          frame: frame('1f02180a0f1e'),
          error: 'malformed',
          envelope: { device: 'PRI0003', reply: 'ACK' },
        },
        { frame: frame('000000000000'), device: 'PRI0003', none: 'no fix', reply: 'ACK' },
      ],
    },
  ],
  corrections: [
    { reason: 'its date is all zeros: the device has no fix', frames: ['pricol-001'], says: { positions: [] } },
  ],
} satisfies ProtocolCases

function frame(time: string): Buffer {
  const w = new ByteWriter().ascii('<PRI0003P').hex('02000001').hex(time).u16(5231).u16(5000).ascii('S')
  w.u8(0).u16(1324).u16(6000).ascii('E').u8(36)
  return w
    .hex('00'.repeat(63 - w.length))
    .ascii('>')
    .toBuffer()
}
