import { ByteWriter } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '353323081669730'
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: -31.5,
  longitude: 115.25,
  altitude: 43,
  heading: 270,
}
const FULL = { ...FIX, speed: 0.31, accuracy: 35 }

export default {
  costly: {
    'records without content': message(4, '0200'.repeat(16_000)),
    'records of empty values': message(4, `ff${'ff'.repeat(1)}`.padEnd(100, '0') + '0100'.repeat(16_000)),
  },
  frames: [
    {
      title: 'a hello, records, a commit',
      frames: [
        { frame: message(0, hello(49)), device: IMEI, none: 'login', reply: message(1, '400f1e1a00000000') },
        { frame: message(0, hello(51)), device: IMEI, none: 'login', reply: message(1, '0000000000') },
        { frame: message(4, record(1) + record(0)), fixes: [FULL, { ...FULL, valid: false }] },
        { frame: message(4, '110000000000000000000b'.padEnd(22, '0') + '0204ffffffff'), none: 'no place' },
        { frame: message(0x10, compact()), fixes: [{ ...FIX, speed: 12.34 }] },
        {
          frame: message(4, record(1, '0208 01000000 0000 1a00 0606 01fe0f 02d204'.replaceAll(' ', ''))),
          fixes: [
            { ...FULL, said: { ignition: true, charging: true, battery_voltage: 4.094, external_voltage: 12.34 } },
          ],
        },
        { frame: message(0x22, ''), none: 'status', reply: message(0x23, '') },
        { frame: message(5, ''), none: 'heartbeat', reply: message(6, '01') },
        { frame: message(0x14, '00'), reply: message(0x15, '00'.repeat(12)) },
        { frame: message(0x33, '00') },
      ],
    },
  ],
} satisfies ProtocolCases

function message(type: number, content: string): Buffer {
  return new ByteWriter()
    .u16(0x0255)
    .u8(type)
    .u16le(content.length / 2)
    .hex(content)
    .toBuffer()
}

function hello(length: number): string {
  return `38f90100${Buffer.from(IMEI).toString('hex')}00`.padEnd(length * 2, '0')
}

function place(): ByteWriter {
  const seconds = (Date.parse(FIX.time) - Date.UTC(2013, 0, 1)) / 1000
  return new ByteWriter().u32le(seconds).u32le(-315_000_000).u32le(1_152_500_000)
}

function record(flags: number, more = '0204ffffffff'): string {
  const value = place().u16le(43).u16le(31).u8(5).u8(135).u8(17).u8(35).u8(flags).toBuffer()
  const fields = new ByteWriter().u8(0).u8(21).bytes(value).hex(more).toBuffer()
  const w = new ByteWriter()
    .u16le(11 + fields.length)
    .hex('47460000')
    .hex('96d68402')
    .u8(0x0b)
    .bytes(fields)
  return w.toBuffer().toString('hex')
}

function compact(): string {
  const bits = [30, 6, 15, 6, 10, 5, 1, 5, 5, 4, 24, 6]
  let packed = 0
  for (let i = 0; i < bits.length; i += 2) packed = packed * 2 ** bits[i + 1] + bits[i]
  const w = new ByteWriter().hex('0eada40d00').u32le(packed).u32le(1_152_500_000).u32le(-315_000_000).u16le(1234)
  return w.u8(135).u16le(43).toBuffer().toString('hex').padEnd(128, '0')
}
