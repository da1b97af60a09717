import { ByteWriter, crc16Xmodem } from '../../protocols/kit/index.ts'
import { eachSaid, type ProtocolCases } from '../support/protocol-cases.ts'

const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, altitude: -12 }
const ID = '160000000'

export default {
  costly: {
    'fields of nothing': message(1, '0800'.repeat(32_000)),
    'messages of nothing': message(1, '0801' + '2200'.repeat(32_000)),
  },
  frames: [
    {
      title: 'a hello and reports',
      frames: [
        { frame: message(2, `08${varint(160_000_000)}10f9b701`), device: ID, none: 'login' },
        {
          frame: report(),
          device: ID,
          fixes: [
            {
              ...FIX,
              accuracy: 8,
              satellites: 10,
              hdop: 1.1,
              said: { external_voltage: 14.765, battery_voltage: 3.887 },
            },
          ],
        },
        { frame: message(1, `08${varint(160_000_000)}${inner(4, '18dfd6b4c705')}`), device: ID, none: 'no place' },
        {
          frame: message(1, `08${varint(160_000_000)}2205ff`),
          error: 'truncated',
        },
        { frame: message(9, '0801') },
      ],
    },
  ],
  corrections: [
    {
      reason: 'a battery of 3.89 V is not at 0 %',
      frames: ['maxpb-001'],
      says: eachSaid((each) => ({ ...each, batteryPercent: undefined })),
    },
  ],
} satisfies ProtocolCases

function varint(value: number): string {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest]).toString('hex')
}

function inner(field: number, hex: string): string {
  return `${varint(field * 8 + 2)}${varint(hex.length / 2)}${hex}`
}

function report(): Buffer {
  const place = new ByteWriter().hex('08001001').u8(0x1d).u32le(525_250_000).u8(0x25).u32le(-134_100_000)
  const position = place.hex('28173008').toBuffer().toString('hex')
  const record = `18${varint(Date.parse(FIX.time) / 1000)}${inner(4, position)}${inner(5, '1003180a280b')}${inner(7, inner(1, '080110ad731802200028af1e'))}`
  return message(1, `08${varint(160_000_000)}${inner(4, record)}`)
}

function message(type: number, record: string): Buffer {
  const content = new ByteWriter().u32le(type).hex(record).toBuffer()
  const w = new ByteWriter()
    .hex('55aa55aa')
    .u16le((content.length + 2) & 0xffff)
    .u16le(crc16Xmodem(content))
  return w.bytes(content).toBuffer()
}
