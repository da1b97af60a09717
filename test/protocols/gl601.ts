import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '861261070000777'
const SECONDS = Date.UTC(2024, 4, 1, 23, 15, 30) / 1000

function packet(mask: string, content: Buffer): Buffer {
  const w = new ByteWriter().hex('2b00').u16(33 + content.length)
  return w
    .hex(`000${ID}c031000a0000${mask}`)
    .u32(SECONDS + 60)
    .hex('2ca75005216190')
    .bytes(content)
    .hex('3c24')
    .toBuffer()
}

const PLACE = new ByteWriter().u32(13_410_000).u32(52_525_000).u32(SECONDS).hex('016809010e00015409').toBuffer()

export default {
  costly: { zeros: Buffer.concat([packet('21', PLACE), Buffer.alloc(COSTLY_SIZE)]) },
  frames: [
    {
      title: 'a position, and a report without one',
      frames: [
        {
          frame: packet('21', PLACE),
          device: ID,
          fixes: [
            {
              time: '2024-05-01T23:15:30Z',
              latitude: 52.525,
              longitude: 13.41,
              speed: 10,
              hdop: 0.9,
              heading: 270,
              altitude: 34,
              satellites: 9,
            },
          ],
        },
        {
          frame: packet('10', bytes('0f404a0000')),
          device: ID,
          none: 'no place',
          said: { battery_voltage: 3.904, battery_percent: 74 },
        },
        { frame: packet('20', bytes('0f404a0000')), device: ID, none: 'no place' },
        { frame: packet('21', bytes('00')), error: 'truncated', envelope: { device: ID } },
      ],
    },
  ],
} satisfies ProtocolCases
