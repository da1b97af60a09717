import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const LONGITUDE = Buffer.alloc(4)
LONGITUDE.writeInt32BE(-13_410_000)
const PLACE = Buffer.concat([u(4, 1714558530), u(4, 52_525_000), LONGITUDE])
const HIGH = Buffer.concat([PLACE, u(2, 345)])
const BARE = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41 }
const FIX = { ...BARE, altitude: 34.5, hdop: 0.9, satellites: 8 }
const DEVICE = '171196416'

export default {
  corrections: [
    {
      reason: 'a report with a serial number is acknowledged ("XT2500 Product Manual", 5.3.15)',
      frames: ['xt2400-000'],
      says: { replies: [{ hex: '888801a0' }] },
    },
  ],
  costly: { 'a long report': Buffer.alloc(COSTLY_SIZE) },
  frames: [
    {
      title: 'both kinds of reports, and another',
      frames: [
        {
          frame: Buffer.concat([bytes('00 0a344000 02'), HIGH, bytes('0000 0a8c 08 09 80')]),
          device: DEVICE,
          fixes: [{ ...FIX, heading: 270, said: { external_voltage: 12.8 } }],
        },
        {
          frame: Buffer.concat([bytes('01 0a344000 08 01a0'), HIGH, bytes('0384 09 08 008b')]),
          device: DEVICE,
          reply: bytes('8888 01a0'),
          fixes: [{ ...FIX, heading: 90 }],
        },
        { frame: bytes('09 0a344000 08 01a0'), device: DEVICE },
      ],
    },
    {
      title: 'a report that is cut is answered',
      frames: [
        {
          frame: Buffer.concat([bytes('01 0a344000 08 01a0'), PLACE.subarray(0, 10)]),
          device: DEVICE,
          reply: bytes('8888 01a0'),
          error: 'truncated',
        },
      ],
    },
    {
      title: 'reports of its recipes',
      // A speed, inputs, a field whose size is not known; a report without a place.
      settings: { recipes: ['140a0103050607080b0c0212', 'fe06 0103 0513 1617'] },
      frames: [
        {
          frame: Buffer.concat([bytes('14 0a344000 0102'), PLACE, bytes('36 21 0009')]),
          device: DEVICE,
          reply: bytes('8888 0102'),
          fixes: [{ ...BARE, speed: 15, said: { ignition: true, moving: true } }],
        },
        {
          frame: bytes('fe 0a344000 0103 08 29 7b'),
          device: DEVICE,
          reply: bytes('8888 0103'),
          none: 'no place',
          said: { battery_voltage: 4.1, external_voltage: 12.3 },
        },
        { frame: Buffer.concat([bytes('00 0a344000 02'), HIGH]), device: DEVICE },
      ],
    },
  ],
} satisfies ProtocolCases
