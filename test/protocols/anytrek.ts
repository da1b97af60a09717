import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '86428703000777'

function packet(type: string, content: string): Buffer {
  const body = bytes(content)
  return new ByteWriter()
    .ascii('xx')
    .u16le(9 + body.length)
    .hex(`${type}00${ID}`)
    .bytes(body)
    .ascii('\r\n')
    .toBuffer()
}

const place = (flags: number) =>
  new ByteWriter()
    .hex('1600850151180501170f1ec9')
    .u32le(52.525 * 1_800_000)
    .u32le(13.41 * 1_800_000)
    .u8(36)
    .u16le(flags | 270)
    .toBuffer()
    .toString('hex')
const FIX = {
  time: '2024-05-01T23:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  speed: 10,
  heading: 270,
  satellites: 9,
  said: { battery_voltage: 3.89 },
}
const ACK = bytes('7878 0700 30 000000000000 0d0a')

export default {
  costly: { zeros: Buffer.concat([packet('30', place(0)), Buffer.alloc(COSTLY_SIZE)]) },
  frames: [
    {
      title: 'positions',
      frames: [
        { frame: packet('30', place(0x1400)), device: ID, fixes: [FIX], reply: ACK },
        {
          frame: packet('30', place(0x0800)),
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41, valid: false }],
          reply: ACK,
        },
        { frame: packet('31', '00'), device: ID },
        { frame: packet('30', '00'), error: 'truncated', envelope: { device: ID, reply: ACK } },
      ],
    },
  ],
} satisfies ProtocolCases
