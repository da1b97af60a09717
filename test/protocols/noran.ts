import { ByteWriter } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const ID = 'NR09G13609'
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.5, longitude: -13.25, speed: 10, heading: 270 }

export default {
  costly: { 'a position and more': Buffer.concat([short('01'), Buffer.alloc(65_000)]) },
  frames: [
    {
      title: 'handshake and positions',
      frames: [
        {
          frame: new ByteWriter().hex('0f000000').ascii(`${ID}\0`).toBuffer(),
          device: ID,
          none: 'login',
          reply: Buffer.from('0d0a2a4b57000d000080010d0a', 'hex'),
        },
        { frame: short('01'), device: ID, fixes: [FIX] },
        { frame: short('c2'), device: ID, fixes: [{ ...FIX, valid: false }] },
        { frame: long(), device: ID, fixes: [FIX] },
        { frame: short('01', '0800', '09'), device: ID, fixes: [{ ...FIX, said: { alarms: ['power_off'] } }] },
        { frame: long('24-02-31 10:15:30'), error: 'malformed', envelope: { device: ID } },
        { frame: short('01', '0300'), device: ID, fixes: [FIX] },
        { frame: Buffer.from('0b000300010203040506ff', 'hex') },
        { frame: Buffer.from('05000980ff', 'hex'), none: 'command answer' },
        { frame: Buffer.from('05007700ff', 'hex') },
      ],
    },
  ],
} satisfies ProtocolCases

function floats(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [i, value] of values.entries()) bytes.writeFloatLE(value, i * 4)
  return bytes
}

function short(flags: string, type = '0800', event = '0c'): Buffer {
  const packed = (((24 * 16 + 5) * 32 + 1) * 32 + 10) * 64 * 64 + 15 * 64 + 30
  const w = new ByteWriter().hex(`2200${type}`).hex(flags).hex(event).u8(36).u16le(270).bytes(floats(-13.25, 52.5))
  return w.u32le(packed).ascii(`${ID}\0\0`).toBuffer()
}

function long(time = '24-05-01 10:15:30'): Buffer {
  const w = new ByteWriter()
    .hex('34000800010b')
    .bytes(floats(36, 270, -13.25, 52.5))
    .ascii(`${ID}\0\0`)
  return w.ascii(`${time}\0`).toBuffer()
}
