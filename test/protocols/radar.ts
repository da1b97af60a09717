import { ByteWriter, crc16CcittFalse } from '../../protocols/kit/index.ts'
import { COSTLY_SIZE, eachPosition, type ProtocolCases } from '../support/protocol-cases.ts'

const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: -33.925,
  longitude: 18.4235,
  altitude: 120,
  speed: 15,
  heading: 270.5,
  satellites: 9,
}

export default {
  costly: {
    'many short records': frame(1, '00000000000000000000000c'.repeat((COSTLY_SIZE - 64) / 12)),
    'many records': frame(1, record('07ff').repeat(1500)),
  },
  frames: [
    {
      title: 'positions',
      frames: [
        { frame: frame(1, record('07ff') + record('07ff')), device: '70123', fixes: [FIX, FIX] },
        { frame: frame(1, record('07fe') + record('07ff')), device: '70123', fixes: [FIX], unreadable: [0] },
        { frame: frame(1, record('07fe')), error: 'unsupported', envelope: { device: '70123' } },
        { frame: frame(1, record('07ff').slice(0, -8)), error: 'truncated' },
        { frame: frame(2, '00'), device: '70123' },
        { frame: damaged(frame(1, record('07ff'))), error: 'checksum' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'no part of a record is known to say that the fix is invalid, and these have 12 and 13 satellites',
      says: eachPosition(() => ({ valid: true })),
    },
  ],
} satisfies ProtocolCases

function frame(type: number, records: string): Buffer {
  const w = new ByteWriter().hex('3618').u32(70_123).u8(type).u32(1_795_156_300).u8(0x4c)
  w.u16(24 + records.length / 2)
    .hex('01ff003500500038')
    .hex(records)
  return w.crc16(crc16CcittFalse).toBuffer()
}

function record(mask: string): string {
  const w = new ByteWriter().hex('0002').hex(mask).hex('831c04c01f1c').u16(42)
  w.u32(1_795_156_217)
    .u32(1_795_156_215)
    .u32(Math.round(-33.925 * 360_000))
    .u32(Math.round(18.4235 * 360_000))
  return w.u16(54).u16(2705).u16(120).u8(0x90).hex('00000001000000').toBuffer().toString('hex')
}

function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy[50] ^= 1
  return copy
}
