import { ByteWriter, crc16Mcrf4xx } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const FIX = {
  time: '2026-11-20T12:00:00Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34.5,
  speed: 5,
}

export default {
  costly: { 'a payload of 255 bytes': message(33, 'ff'.repeat(255), 104) },
  wrongChecksums: 'the place of both frames was changed: it is the same in both, and a multiple of 0.0001 degrees',
  frames: [
    {
      title: "a position as MAVLink's own library (pymavlink) writes it",
      frames: [
        {
          frame: bytes('fd1c000000070121000088130000d0ad4e1fe0cb01f8a6ed0700ed070000fb01f7fffdff942c4a70'),
          device: '7',
          fixes: [{ ...FIX, altitude: 519.59, speed: Math.hypot(507, -9) / 100, heading: 114.12 }],
        },
      ],
    },
    {
      title: 'positions, one of them signed, another message',
      frames: [
        { frame: message(33, position(27_050), 104), device: '1', fixes: [{ ...FIX, heading: 270.5 }] },
        { frame: message(33, position(0xffff), 104, 1), device: '1', fixes: [FIX] },
        { frame: message(33, position(0).slice(0, -4), 104), device: '1', fixes: [{ ...FIX, heading: 0 }] },
        { frame: message(0, '060000000203510303', 50), device: '1', none: 'status' },
      ],
    },
  ],
} satisfies ProtocolCases

function position(heading: number): string {
  const w = new ByteWriter().u32le(1234).u32le(525_250_000).u32le(-134_100_000).u32le(34_500).u32le(0)
  return w
    .u16le(300)
    .u16le(-400 & 0xffff)
    .u16le(0)
    .u16le(heading)
    .toBuffer()
    .toString('hex')
}

function message(id: number, payload: string, extra: number, flags = 0): Buffer {
  const w = new ByteWriter()
    .u8(payload.length / 2)
    .u8(flags)
    .hex('00070101')
    .u16le(id)
    .u8(0)
    .hex(payload)
  const covered = w.toBuffer()
  const checksum = crc16Mcrf4xx(Buffer.concat([covered, Buffer.of(extra)]))
  return new ByteWriter()
    .u8(0xfd)
    .bytes(covered)
    .u16le(checksum)
    .hex(flags ? '00'.repeat(13) : '')
    .toBuffer()
}
