import { ByteWriter, crc16Modbus } from '../../protocols/kit/index.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const LOGIN = '000064000100070000000600020002034e0c02000004000000'
const ANSWER = frame('0000000000000700000000000000')

export default {
  costly: { 'a frame as long as it can be': frame('01'.repeat(COSTLY_SIZE - 64)), starts: '~'.repeat(COSTLY_SIZE) },
  withoutPositions: 'of no type with positions a frame is known',
  frames: [
    {
      title: 'login, unknown types',
      frames: [
        { frame: frame(LOGIN), device: '3150', none: 'login', reply: ANSWER },
        { frame: frame('010065000100070000000102'), reply: ANSWER },
        { frame: frame('010065000000070000000102') },
        { frame: frame('00006400'), error: 'truncated' },
        { frame: Buffer.from(frame(LOGIN)).fill(9, 30, 31), error: 'checksum' },
      ],
    },
  ],
} satisfies ProtocolCases

function frame(content: string): Buffer {
  const bytes = Buffer.from(content, 'hex')
  const w = new ByteWriter().hex('7e7e').u16le(bytes.length).hex('0200').u16(crc16Modbus(bytes))
  return w.hex('02000000000000').bytes(bytes).toBuffer()
}
