import { ByteWriter, crc16Xmodem } from '../../protocols/kit/index.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const LOGIN = '20241120006abc0100000001'

export default {
  costly: {
    'a login as long as it can be': frame(0x33, '01'.repeat(COSTLY_SIZE - 64)),
    starts: Buffer.alloc(COSTLY_SIZE, 0xf1),
  },
  withoutPositions: 'of no type with positions a frame is known',
  frames: [
    {
      title: 'login, an unknown type',
      frames: [
        { frame: frame(0x33, LOGIN), device: '20241120006abc01', none: 'login', reply: frame(0x65, LOGIN) },
        { frame: frame(0x34, '0102') },
        { frame: frame(0x33, '0102'), error: 'truncated' },
        { frame: Buffer.from(frame(0x33, LOGIN)).fill(7, 10, 11), error: 'checksum' },
      ],
    },
  ],
} satisfies ProtocolCases

function frame(type: number, content: string): Buffer {
  const w = new ByteWriter()
    .hex('f1f1f1f1')
    .u8(type)
    .u16le(content.length / 2)
    .hex(content)
  return w.crc16(crc16Xmodem).toBuffer()
}
