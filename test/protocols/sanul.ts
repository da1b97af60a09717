import { ByteWriter, crc16Modbus } from '../../protocols/kit/index.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const LOGIN = frame(`01000000000000${Buffer.from(ID).toString('hex')}00000000000000000000`)

export default {
  costly: {
    'a frame as long as it can be': frame('01'.repeat(COSTLY_SIZE - 8)),
    starts: Buffer.alloc(COSTLY_SIZE, 0xaa),
  },
  withoutPositions: 'of no type with positions a frame is known',
  frames: [
    {
      title: 'login, an unknown type',
      frames: [
        { frame: LOGIN, device: ID, none: 'login', reply: frame('010500000000000000000000000200') },
        { frame: frame('010700000000000000') },
        { frame: Buffer.from(LOGIN).fill('7', 14, 15), error: 'checksum' },
      ],
    },
  ],
} satisfies ProtocolCases

function frame(content: string): Buffer {
  const bytes = Buffer.from(content, 'hex')
  return new ByteWriter().u8(0xaa).u16(crc16Modbus(bytes)).u16le(bytes.length).bytes(bytes).toBuffer()
}
