import { ByteWriter } from '../../protocols/kit/index.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '352094082736916'

export default {
  costly: {
    'parts of a picture': Buffer.alloc(COSTLY_SIZE, frameOf(0x0004, '00')),
    'bytes of no type': Buffer.alloc(COSTLY_SIZE, 0xff),
  },
  withoutPositions: 'cameras send pictures and videos',
  frames: [
    {
      title: 'login, parts of a picture, an unknown type',
      frames: [
        { frame: login(Number(ID)), device: ID, none: 'login', reply: '\0\0\0\0' },
        { frame: frameOf(0x000d, '64736d2f3100'), none: 'photo' },
        { frame: frameOf(0x0001, '000000110000'), none: 'photo' },
        { frame: frameOf(0x0004, 'ffd8ffe000'), none: 'photo' },
        { frame: frameOf(0x000b, '00') },
        { frame: login(1), error: 'malformed' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'no pictures are asked for (rule 10): the connection is closed, as the specification has it',
      says: ({ replies, input }) => replies && { replies: input.hex?.startsWith('0000') ? [{ hex: '00000000' }] : [] },
    },
  ],
} satisfies ProtocolCases

function login(imei: number): Buffer {
  return new ByteWriter().u16(0).u16(5).u64(imei).hex('44000400').toBuffer()
}

function frameOf(type: number, content: string): Buffer {
  return new ByteWriter()
    .u16(type)
    .u16(content.length / 2)
    .hex(content)
    .toBuffer()
}
