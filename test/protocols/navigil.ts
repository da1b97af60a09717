import { ByteWriter, crc16CcittFalse } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const FIX = { time: '2024-05-01T10:15:30Z', latitude: -25.9684113, longitude: 32.5922488 }
const PLACE = new ByteWriter().u32le(-259_684_113).u32le(325_922_488).hex('0400c00403000000').toBuffer().toString('hex')

export default {
  costly: { 'a position and more': message(7, 0x0f, PLACE + '00'.repeat(65_000)) },
  frames: [
    {
      title: 'a status, a position, another type',
      frames: [
        { frame: message(7, 4, '0c0000003b00000000000000'), device: '133123', none: 'status', reply: answer(1, 7) },
        { frame: message(8, 0x0f, PLACE), device: '133123', fixes: [FIX], reply: answer(2, 8) },
        { frame: message(9, 0x33, ''), device: '133123', reply: answer(3, 9) },
      ],
    },
  ],
} satisfies ProtocolCases

function message(number: number, type: number, content: string): Buffer {
  const bytes = Buffer.from(content, 'hex')
  const w = new ByteWriter()
    .u16le(1)
    .u16le(number)
    .u16le(type)
    .u16le((20 + bytes.length) & 0xffff)
    .u16le(0)
  return w
    .u16le(crc16CcittFalse(bytes))
    .u32le(133_123)
    .u32le(Date.parse(FIX.time) / 1000 + 25)
    .bytes(bytes)
    .toBuffer()
}

function answer(count: number, number: number): Buffer {
  const content = new ByteWriter().u16le(number).u16le(0).toBuffer()
  const w = new ByteWriter().u16le(1).u16le(count).hex('ff0018000000').u16le(crc16CcittFalse(content)).u32le(0)
  return w.hex('5936006b').bytes(content).toBuffer()
}
