import { ByteWriter, crc16Xmodem } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: -23.525,
  longitude: -46.41,
  speed: 1.0288889,
  heading: 270,
  altitude: 723,
}

export default {
  costly: { 'values of nothing': message(5, `5138060708ff${'0000'.repeat(32_000)}`) },
  frames: [
    {
      title: 'a report, one without a place, another type',
      transport: 'udp',
      frames: [
        {
          frame: message(5, report()),
          device: '800036830',
          fixes: [{ ...FIX, said: { ignition: false } }],
          reply: answer(5),
        },
        {
          frame: message(5, report().replace((0x8000 + 1411).toString(16), '8000')),
          device: '800036830',
          fixes: [{ ...FIX, latitude: -0.5 / 60, said: { ignition: false } }],
          reply: answer(5),
        },
        {
          frame: message(5, '6029a3de08010b0400015a0c'),
          device: '800036830',
          none: 'no place',
          said: { ignition: false },
          reply: answer(5),
        },
        {
          frame: message(5, '6029a3dec0020d010d0b0400015a0c'),
          device: '800036830',
          none: 'no place',
          said: { ignition: true, battery_percent: 65 },
          reply: answer(5),
        },
        {
          frame: message(5, '6029a3dec0020d01fe100100'),
          error: 'truncated',
          envelope: { device: '800036830', reply: answer(5) },
        },
        { frame: message(2, '272829'), device: '800036830', reply: answer(2) },
      ],
    },
  ],
  corrections: [
    {
      reason: 'an answer stands between the same parentheses as a frame',
      says: ({ replies }) => ({ replies: replies?.map(({ hex = '' }) => ({ hex: `28${hex}29` })) }),
    },
  ],
} satisfies ProtocolCases

function message(type: number, content: string): Buffer {
  const w = new ByteWriter().hex('2faf97de06000024db').u8(type).hex(content)
  return escaped(w.crc16(crc16Xmodem).toBuffer())
}

function answer(type: number): Buffer {
  const w = new ByteWriter().hex('2faf97de06000024db00').u8(type)
  return Buffer.concat([Buffer.from('('), escaped(w.crc16(crc16Xmodem).toBuffer()), Buffer.from(')')])
}

function escaped(bytes: Buffer): Buffer {
  return Buffer.from([...bytes].flatMap((byte) => (byte >= 0x27 && byte <= 0x29 ? [0x27, byte - 0x20] : [byte])))
}

function report(): string {
  const time = ((((24 * 16 + 5) * 32 + 1) * 32 + 10) * 64 + 15) * 64 + 30
  const place = new ByteWriter()
    .u32(time)
    .u16(0x8000 + 1411)
    .u16(5000)
    .u16(0x8000 + 2784)
    .u16(6000)
    .u8(2)
    .u8(135)
  const value = place.u16(723).hex('01000106').toBuffer()
  const w = new ByteWriter().u32(time).hex('0802').hex('0b0400015a0c').u8(0x10).u8(value.length).bytes(value)
  return w.toBuffer().toString('hex')
}
