import { ByteWriter } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const SECONDS = Date.UTC(2024, 4, 1, 10, 15, 30) / 1000
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34.5,
  speed: 12.34,
  heading: 270,
  satellites: 9,
  hdop: 0.9,
  said: { ignition: false },
}
const { altitude: _, hdop: __, ...MINI_FIX } = { ...FIX, speed: 10, said: { ignition: true } }

export default {
  costly: {
    'a report with more': Buffer.concat([message(2, report()), Buffer.from(many('x')).subarray(100)]),
    'a long id': Buffer.concat([Buffer.from('81ff', 'hex'), Buffer.from(many('x')).subarray(100)]),
  },
  frames: [
    {
      title: 'reports with an answer and without',
      frames: [
        { frame: message(2, report()), device: '4542050670', fixes: [FIX], reply: ack(2) },
        { frame: message(8, report(), 0), device: '4542050670', fixes: [FIX] },
        {
          frame: message(2, report({ fixed: 0, status: 8 })),
          device: '4542050670',
          fixes: [{ ...FIX, time: '2024-05-01T10:17:30Z', valid: false }],
          reply: ack(2),
        },
        { frame: message(0x0a, mini()), device: '4542050670', fixes: [MINI_FIX], reply: ack(0x0a) },
        {
          frame: message(2, report().slice(0, -6)),
          device: '4542050670',
          fixes: [{ ...FIX, said: undefined }],
          reply: ack(2),
        },
        { frame: message(2, '0102'), error: 'truncated', envelope: { device: '4542050670', reply: ack(2) } },
        { frame: message(3, ''), device: '4542050670', none: 'status', reply: ack(3) },
        { frame: message(0x63, ''), device: '4542050670', reply: ack(0x63) },
        { frame: message(0x0a, mini()).subarray(9), fixes: [MINI_FIX], reply: ack(0x0a) },
      ],
    },
  ],
  corrections: [
    {
      reason: 'LM Direct: HDOP is in tenths',
      says: eachPosition(({ hdop }) => ({ hdop: hdop === undefined ? undefined : hdop / 10 })),
    },
    {
      reason: 'LM Direct: "time of fix" is when the position was measured; the update time is that of the report',
      says(vector) {
        const bytes = Buffer.from(vector.input.hex ?? '', 'hex')
        const at = 2 + bytes[1] + 2
        const fixed = bytes[at + 1] === 2 ? bytes.readUInt32BE(at + 8) : 0
        const time = fixed > 0 ? { time: new Date(fixed * 1000).toISOString() } : {}
        return eachPosition(() => time)(vector)
      },
    },
  ],
} satisfies ProtocolCases

function message(type: number, content: string, service = 1): Buffer {
  return new ByteWriter().hex('830545420506700101').u8(service).u8(type).u16(7).hex(content).toBuffer()
}

function ack(type: number): Buffer {
  return new ByteWriter().u8(2).u8(1).u16(7).u8(type).hex('0000000000').toBuffer()
}

function report({ fixed = SECONDS, status = 0 } = {}): string {
  const w = new ByteWriter()
    .u32(SECONDS + 120)
    .u32(fixed)
    .u32(525_250_000)
    .u32(-134_100_000)
    .u32(3450)
    .u32(1234)
  return w.u16(270).u8(9).u8(status).hex('001effa12f').u8(9).hex('22081b').toBuffer().toString('hex')
}

function mini(): string {
  const w = new ByteWriter().u32(SECONDS).u32(525_250_000).u32(-134_100_000).u16(270).u8(36).u8(0x49)
  return w.hex('0f1f').toBuffer().toString('hex')
}
