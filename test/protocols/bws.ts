import { ByteWriter, sum8 } from '../../protocols/kit/index.ts'
import { eachPosition, type ProtocolCases } from '../support/protocol-cases.ts'

const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: -33.925,
  longitude: 18.4235,
  speed: 15,
  heading: 270.5,
  satellites: 9,
}

export default {
  costly: { 'a position and more': position(1, Buffer.alloc(65_000)) },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: position(1),
          device: '12abcdef',
          fixes: [{ ...FIX, said: { external_voltage: 15.3, battery_voltage: 4.2 } }],
          reply: answer(),
        },
        { frame: position(2), device: '12abcdef', reply: answer() },
        { frame: position(1).subarray(0, 20), error: 'truncated', envelope: { device: '12abcdef', reply: answer() } },
        { frame: Buffer.from('01', 'hex'), error: 'unsupported' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'no part of the frame is known to say that the fix is invalid, and it has 7 satellites',
      says: eachPosition(() => ({ valid: true })),
    },
  ],
} satisfies ProtocolCases

function position(type: number, more = Buffer.from('00992a000101', 'hex')): Buffer {
  const w = new ByteWriter().hex('0012abcdef').u8(type).u8(7).u32(1_795_156_215)
  w.u32(Math.round(-33.925 * 360_000))
    .u32(Math.round(18.4235 * 360_000))
    .u8(9)
    .u8(54)
    .u16(2705)
  return w.bytes(more).toBuffer()
}

function answer(): Buffer {
  const head = Buffer.from('0012abcdef4007', 'hex')
  return Buffer.concat([head, Buffer.from([sum8(head.subarray(2))])])
}
