import { crc16CcittFalse, kmh } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const le = (size: number, value: number) => u(size, value).toReversed()

function packet(content: Buffer): Buffer {
  const covered = Buffer.concat([bytes('bf4c'), le(4, 1502000), le(2, content.length), content])
  return Buffer.concat([le(2, crc16CcittFalse(covered)), covered])
}

function record(valid: number, extra: Buffer): Buffer {
  const longitude = Buffer.alloc(4)
  longitude.writeInt32LE(-13_410_000)
  const head = Buffer.concat([
    bytes('5f8791e90100'),
    le(2, extra.length),
    le(4, 1714558530),
    le(4, 52_525_000),
    longitude,
  ])
  return Buffer.concat([head, le(2, 3600), le(2, 34), le(2, 270), Buffer.of(valid, 8, 2, 1), extra])
}

const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34,
  speed: kmh(36),
  heading: 270,
  satellites: 8,
}

export default {
  costly: { records: packet(Buffer.alloc(COSTLY_SIZE - 100)) },
  frames: [
    {
      title: 'records with and without a fix, and none',
      frames: [
        {
          frame: packet(Buffer.concat([record(1, Buffer.alloc(9)), record(0, Buffer.alloc(0))])),
          device: '1502000',
          fixes: [FIX, { ...FIX, valid: false }],
          reply: packet(Buffer.alloc(0)),
        },
        {
          frame: packet(record(1, Buffer.alloc(9)).subarray(0, -3)),
          error: 'truncated',
          envelope: { device: '1502000', reply: packet(Buffer.alloc(0)) },
        },
        { frame: packet(Buffer.alloc(0)), device: '1502000', none: 'heartbeat', reply: packet(Buffer.alloc(0)) },
      ],
    },
  ],
} satisfies ProtocolCases
