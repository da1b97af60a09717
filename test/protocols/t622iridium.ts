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
const payload = (fixed: number, event = 0x23) =>
  element(2, Buffer.concat([Buffer.of(event), PLACE.subarray(1, 13), Buffer.of(fixed), bytes('2400 cf0004')]))
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, speed: 10 }
const ALL = element(2, Buffer.concat([PLACE.subarray(0, 13), bytes('01 09 14 2400 0e01 0900 feff 00000000')]))
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
        {
          frame: frame(HEADER, payload(1, 23)),
          device: ID,
          fixes: [{ ...FIX, said: { alarms: ['power_cut'] } }],
        },
        { frame: frame(HEADER, element(2, bytes('2300'))), error: 'truncated', envelope: { device: ID } },
        { frame: frame(HEADER), device: ID, none: 'status' },
      ],
    },
    {
      title: 'a payload with all fields that are known',
      settings: { format: '01,02,03,04,05,06,07,08,09,0A,0B,0C' },
      frames: [
        {
          frame: frame(HEADER, ALL),
          device: ID,
          fixes: [{ ...FIX, satellites: 9, heading: 270, hdop: 0.9, altitude: -2 }],
        },
      ],
    },
    {
      title: 'a payload of a format that is not known',
      frames: [{ frame: frame(HEADER, payload(1)), device: ID, fixes: [] }],
    },
  ],
} satisfies ProtocolCases
