import { kmh } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const ID = '352093086403655'

const packet = (...blocks: readonly Buffer[]): Buffer => flagged(3, ...blocks)

function flagged(flags: number, ...blocks: readonly Buffer[]): Buffer {
  const content = Buffer.concat([Buffer.from(`${ID}\0`), u(4, 1714558530), u(4, flags), ...blocks])
  return Buffer.concat([u(4, content.length).toReversed(), content])
}

function block(type: number, name: string, value: Buffer): Buffer {
  const content = Buffer.concat([Buffer.of(1, type), Buffer.from(`${name}\0`), value])
  return Buffer.concat([bytes('0bbb'), u(4, content.length), content])
}

function double(value: number): Buffer {
  const bytesOf = Buffer.alloc(8)
  bytesOf.writeDoubleLE(value)
  return bytesOf
}

const PLACE = Buffer.alloc(29)
PLACE.writeDoubleLE(-13.41, 0)
PLACE.writeDoubleLE(52.525, 8)
PLACE.writeDoubleLE(34, 16)
PLACE.writeUInt16BE(36, 24)
PLACE.writeUInt16BE(270, 26)
PLACE[28] = 8
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34,
  speed: kmh(36),
  heading: 270,
  satellites: 8,
}
const OTHER = block(3, 'mcc', u(4, 262))

export default {
  costly: {
    'blocks with a name alone': packet(...Array.from({ length: 7000 }, () => block(1, '', Buffer.alloc(0)))),
  },
  frames: [
    {
      title: 'packets with and without a position',
      frames: [
        {
          frame: packet(OTHER, block(2, 'posinfo', PLACE)),
          device: ID,
          fixes: [FIX],
          reply: bytes('11'),
        },
        {
          frame: packet(
            block(2, 'posinfo', PLACE),
            block(5, 'ign', Buffer.concat([u(4, 0), u(4, 1)])),
            block(4, 'pwr_ext', double(27.6)),
            block(4, 'pwr_int', double(4.1)),
            block(1, 'avl_driver', Buffer.from('4B1D2E\0')),
          ),
          device: ID,
          fixes: [
            {
              ...FIX,
              said: { ignition: true, external_voltage: 27.6, battery_voltage: 4.1, driver: '4B1D2E' },
            },
          ],
          reply: bytes('11'),
        },
        ...[
          [block(4, 'pwr_ext', double(27.6)).subarray(0, -1)],
          [bytes('0bbb 00000001 01'), OTHER],
          [block(4, 'pwr_ext', double(27.6).subarray(1)), block(3, 'ign', u(2, 1)), block(5, 'pwr_int', u(4, 12))],
        ].map((damaged) => ({
          frame: packet(block(2, 'posinfo', PLACE), ...damaged),
          device: ID,
          fixes: [FIX],
          reply: bytes('11'),
        })),
        {
          frame: packet(block(2, 'posinfo', PLACE.subarray(0, 20))),
          error: 'truncated',
          envelope: { device: ID, reply: bytes('11') },
        },
        {
          frame: flagged(0x10, OTHER),
          device: ID,
          none: 'no place',
          said: { alarms: ['sos'] },
          reply: bytes('11'),
        },
        { frame: packet(OTHER), device: ID, none: 'no place', reply: bytes('11') },
      ],
    },
  ],
} satisfies ProtocolCases
