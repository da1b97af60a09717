import { ByteWriter, crc16Modbus } from '../../protocols/kit/index.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const LOGIN = '000064000100070000000600020002034e0c02000004000000'
const ANSWER = frame('0000000000000700000000000000')
const ACK = frame('0100000000000700000000000000')
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 55.525,
  longitude: 37.41,
  altitude: -12,
  speed: 10,
  heading: 270,
  satellites: 9,
}

export default {
  costly: { 'a frame as long as it can be': frame('01'.repeat(COSTLY_SIZE - 64)), starts: '~'.repeat(COSTLY_SIZE) },
  frames: [
    {
      title: 'login, unknown types',
      frames: [
        { frame: frame(LOGIN), device: '3150', none: 'login', reply: ANSWER },
        { frame: frame('020065000100070000000102'), reply: frame('0200000000000700000000000000') },
        { frame: frame('020065000000070000000102') },
        { frame: frame('00006400'), error: 'truncated' },
        { frame: Buffer.from(frame(LOGIN)).fill(9, 30, 31), error: 'checksum' },
      ],
    },
    {
      title: 'cells with a position in the north-east, beside others',
      frames: [
        {
          frame: frame(`01006500010007000000 ${cell(0xe0)} 02000102 ${cell(0x60)}`.replaceAll(' ', '')),
          fixes: [FIX, { ...FIX, valid: false }],
          reply: ACK,
        },
        { frame: frame(`01006400010007000000${cell(0xa0)}`), fixes: [], reply: ACK },
      ],
    },
  ],
} satisfies ProtocolCases

function cell(flags: number): string {
  const w = new ByteWriter().hex('0000').u32le(Date.parse(FIX.time) / 1000)
  w.u32le(FIX.longitude * 1e7)
    .u32le(FIX.latitude * 1e7)
    .u8(flags)
    .u8(200)
    .u16le(36)
    .u16le(40)
    .u16le(270)
    .u16le(5)
  return w
    .u16le(FIX.altitude & 0xffff)
    .u8(9)
    .u8(14)
    .toBuffer()
    .toString('hex')
}

function frame(content: string): Buffer {
  const bytes = Buffer.from(content, 'hex')
  const w = new ByteWriter().hex('7e7e').u16le(bytes.length).hex('0200').u16(crc16Modbus(bytes))
  return w.hex('02000000000000').bytes(bytes).toBuffer()
}
