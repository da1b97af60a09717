import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '861234567890123'
/** 2024-05-01 23:15:30 in mixed radix. */
const TIME = ((((24 * 12 + 4) * 31 + 0) * 24 + 23) * 60 + 15) * 60 + 30

function report(mask: string): Buffer {
  const w = new ByteWriter().hex(`7d010${ID}0010`).u32(TIME).hex(`1830002e${mask}0c`).u32(TIME)
  return w.u32(142_525_000).u32(166_590_000).hex('24010e0022140f5ea2').toBuffer()
}

export default {
  costly: { zeros: Buffer.concat([report('7fffffff'), Buffer.alloc(COSTLY_SIZE)]) },
  frames: [
    {
      title: 'a report with all fields, and one with others, which is not read',
      frames: [
        {
          frame: report('7fffffff'),
          device: ID,
          fixes: [
            {
              time: '2024-05-01T23:15:30Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: 10,
              heading: 270,
              altitude: 34,
            },
          ],
          reply: bytes('7e0002e00f'),
        },
        {
          frame: Buffer.concat([report('7fffffff'), bytes('0e80 00000000 02 02d4')]),
          device: ID,
          fixes: [
            {
              time: '2024-05-01T23:15:30Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: 10,
              heading: 270,
              altitude: 34,
              said: { external_voltage: 24.226, battery_voltage: 3.712, ignition: true },
            },
          ],
          reply: bytes('7e0002e00f'),
        },
        {
          frame: Buffer.concat([report('7fffffff'), bytes('0e80 00000000 00 02d4')]),
          device: ID,
          fixes: [
            {
              time: '2024-05-01T23:15:30Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: 10,
              heading: 270,
              altitude: 34,
              said: { external_voltage: 24.226, battery_voltage: 3.712, ignition: false },
            },
          ],
          reply: bytes('7e0002e00f'),
        },
        {
          frame: Buffer.concat([report('7fffffff'), bytes('0e80')]),
          device: ID,
          fixes: [
            {
              time: '2024-05-01T23:15:30Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: 10,
              heading: 270,
              altitude: 34,
              said: { external_voltage: 24.226, battery_voltage: 3.712 },
            },
          ],
          reply: bytes('7e0002e00f'),
        },
        {
          frame: report('7fffffff').subarray(0, 40),
          error: 'truncated',
          envelope: { device: ID, reply: bytes('7e0002e00f') },
        },
        { frame: report('7ffffffe'), device: ID, fixes: [], reply: bytes('7e0002e00f') },
        { frame: bytes('7d02'), error: 'unsupported' },
        { frame: bytes('7d'), error: 'truncated' },
      ],
    },
  ],
} satisfies ProtocolCases
