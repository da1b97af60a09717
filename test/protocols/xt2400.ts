import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const LONGITUDE = Buffer.alloc(4)
LONGITUDE.writeInt32BE(-13_410_000)
const PLACE = Buffer.concat([u(4, 1714558530), u(4, 52_525_000), LONGITUDE, u(2, 345)])
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34.5,
  hdop: 0.9,
  satellites: 8,
}

export default {
  costly: { 'a long report': Buffer.alloc(COSTLY_SIZE) },
  frames: [
    {
      title: 'both kinds of reports, and another',
      frames: [
        {
          frame: Buffer.concat([bytes('00 0a344000 02'), PLACE, bytes('0000 0a8c 08 09 80')]),
          device: '171196416',
          fixes: [{ ...FIX, heading: 270, said: { external_voltage: 12.8 } }],
        },
        {
          frame: Buffer.concat([bytes('01 0a344000 08 01a0'), PLACE, bytes('0000 09 08 008b')]),
          device: '171196416',
          fixes: [FIX],
        },
        { frame: bytes('09 0a344000 08 01a0'), device: '171196416' },
      ],
    },
  ],
} satisfies ProtocolCases
