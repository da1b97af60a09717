import { ByteWriter, crc32 } from '../../protocols/kit/index.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '250017042441013'
const LOGIN = new ByteWriter().u16le(3).ascii('201').u16le(3).ascii('352').u16le(15).ascii(ID).toBuffer()

export default {
  costly: { 'a login as long as it can be': frame(2, Buffer.alloc(COSTLY_SIZE - 64)) },
  withoutPositions: 'of no type with positions a frame is known',
  frames: [
    {
      title: 'login, an unknown type',
      frames: [
        { frame: frame(2, LOGIN), device: ID, none: 'login' },
        { frame: frame(10, LOGIN) },
        { frame: frame(2, LOGIN.subarray(0, 10)), error: 'truncated' },
        { frame: Buffer.from(frame(2, LOGIN)).fill('7', 20, 21), error: 'checksum' },
      ],
    },
  ],
} satisfies ProtocolCases

function frame(type: number, content: Buffer): Buffer {
  const w = new ByteWriter()
    .u16le(type)
    .u16le(content.length + 4)
    .u32le(1)
    .bytes(content)
  return w.u32le(crc32(w.toBuffer())).toBuffer()
}
