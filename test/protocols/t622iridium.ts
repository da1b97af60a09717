import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const element = (tag: number, content: Buffer) => Buffer.concat([Buffer.of(tag), u(2, content.length), content])
const HEADER = element(
  1,
  Buffer.concat([bytes('68b2cb17'), Buffer.from('300434000000017'), bytes('00 016e 0000 64b5f497')]),
)
const frame = (...elements: readonly Buffer[]) => element(1, Buffer.concat(elements))
const PLACE = Buffer.alloc(16)
PLACE[0] = 0x23
PLACE.writeInt32LE(52_525_000, 1)
PLACE.writeInt32LE(-13_410_000, 5)
PLACE.writeUInt32LE((Date.UTC(2024, 4, 1, 10, 15, 30) - Date.UTC(2000, 0, 1)) / 1000, 9)
const payload = (fixed: number) => element(2, Buffer.concat([PLACE.subarray(0, 13), Buffer.of(fixed), bytes('0000cf')]))
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41 }
const ID = '300434000000017'

export default {
  costly: { 'elements without content': frame(Buffer.alloc(COSTLY_SIZE - 100)) },
  frames: [
    {
      title: 'payloads of a format that the settings name',
      settings: { format: '01,02,03,04,05,08' },
      frames: [
        { frame: frame(HEADER, payload(1)), device: ID, fixes: [FIX] },
        { frame: frame(HEADER, payload(0)), device: ID, fixes: [{ ...FIX, valid: false }] },
        { frame: frame(HEADER), device: ID, none: 'status' },
      ],
    },
    {
      title: 'a payload of a format that is not known',
      frames: [{ frame: frame(HEADER, payload(1)), device: ID, fixes: [] }],
    },
  ],
} satisfies ProtocolCases
