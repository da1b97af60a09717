import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const SECONDS = Date.UTC(2024, 4, 1, 23, 15, 30) / 1000

function packet(count: number, rest = '610401'): Buffer {
  const w = new ByteWriter().ascii('FB').u16le(777).u8(count)
  for (let i = 0; i < count; i++)
    w.u32le(525_250_000)
      .u32le(-134_100_000)
      .u32le(SECONDS + i)
      .u8(36)
      .hex(rest)
  return w.toBuffer()
}

const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: -13.41, speed: 10, said: { ignition: true } }

export default {
  costly: { zeros: Buffer.concat([packet(255), Buffer.alloc(COSTLY_SIZE)]) },
  frames: [
    {
      title: 'two packets in one datagram',
      transport: 'udp',
      frames: Array.from({ length: 2 }, () => ({ frame: packet(1), device: '777', fixes: [FIX], reply: bytes('01') })),
    },
    {
      title: 'positions',
      frames: [
        {
          frame: packet(2),
          device: '777',
          fixes: [FIX, { ...FIX, time: '2024-05-01T23:15:31Z' }],
          reply: bytes('01'),
        },
        {
          frame: packet(1, '970700'),
          device: '777',
          fixes: [{ ...FIX, said: { ignition: false } }],
          reply: bytes('01'),
        },
        { frame: packet(0), device: '777', none: 'no place', reply: bytes('01') },
        { frame: packet(2).subarray(0, 30), error: 'truncated', envelope: { device: '777', reply: bytes('01') } },
      ],
    },
  ],
} satisfies ProtocolCases
