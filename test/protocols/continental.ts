import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const SECONDS = Date.UTC(2024, 4, 1, 23, 15, 30) / 1000

function packet(type: number, content: ByteWriter): Buffer {
  const body = content.toBuffer()
  return new ByteWriter()
    .ascii('SV')
    .u16(11 + body.length)
    .u8(0x16)
    .u32(777)
    .u8(5)
    .u8(type)
    .bytes(body)
    .toBuffer()
}

const place = (latitude: number, longitude: number, valid = 1) =>
  new ByteWriter().u32(SECONDS).u32(latitude).u32(longitude).u16(270).u16(36).u8(valid).hex('5b4001e9')
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: 10, heading: 270 }

export default {
  costly: { zeros: Buffer.concat([packet(2, place(0, 0)), Buffer.alloc(COSTLY_SIZE)]) },
  frames: [
    {
      title: 'coarse and fine coordinates',
      frames: [
        { frame: packet(2, place(52.525 * 3600, 13.41 * 3600)), device: '777', fixes: [FIX] },
        { frame: packet(2, place(52.525 * 360_000, 13.41 * 360_000)), device: '777', fixes: [FIX] },
        {
          frame: packet(2, place(2 ** 24 - 52.525 * 3600, 2 ** 24 - 13.41 * 3600, 0)),
          device: '777',
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41, valid: false }],
        },
        {
          frame: packet(2, place(2 ** 28 - 52.525 * 360_000, 2 ** 28 - 13.41 * 360_000)),
          device: '777',
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41 }],
        },
        { frame: packet(7, new ByteWriter().bytes(bytes('00'))), device: '777' },
        { frame: packet(2, new ByteWriter().bytes(bytes('00'))), error: 'truncated', envelope: { device: '777' } },
        {
          frame: packet(2, place(52.525 * 3600, 13.41 * 3600).hex('000e 8201 0000 0c24'.replaceAll(' ', ''))),
          device: '777',
          fixes: [{ ...FIX, said: { ignition: true, external_voltage: 12 } }],
        },
      ],
    },
  ],
  corrections: [
    {
      reason: '12 and 13 V are the battery of the vehicle',
      says: eachSaid(({ batteryV, ...rest }) => ({ ...rest, powerV: batteryV })),
    },
  ],
} satisfies ProtocolCases
