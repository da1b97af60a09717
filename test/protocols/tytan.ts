import { crc16Arc, kmh } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'
import { eachSaid } from '../support/vectors/corrections.ts'

function datagram(...records: readonly Buffer[]): Buffer {
  const content = Buffer.concat([bytes('28 00001405'), ...records])
  const frame = Buffer.concat([bytes('b5'), u(2, content.length + 2), content])
  return Buffer.concat([frame, u(2, crc16Arc(frame))])
}

const angle = (degrees: number, range: number) => u(3, Math.round((degrees / range) * 2 ** 24))
const record = (satellites: number, tags: string, flags = '99') =>
  Buffer.concat([
    u(1, 14 + tags.replaceAll(' ', '').length / 2),
    u(4, 1714558530),
    u(1, satellites * 4 + 2),
    angle(90 - 52.5, 180),
    angle(180 + 13.5, 360),
    bytes(`${flags} 24 ${tags}`),
  ])
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 90 - (Math.round((37.5 / 180) * 2 ** 24) * 180) / 2 ** 24,
  longitude: (Math.round((193.5 / 360) * 2 ** 24) * 360) / 2 ** 24 - 180,
  speed: kmh(36),
  satellites: 8,
  said: { ignition: true },
}

export default {
  costly: { 'short records': datagram(Buffer.alloc(COSTLY_SIZE - 100, 14)) },
  frames: [
    {
      title: 'records with and without a fix',
      frames: [
        {
          frame: datagram(record(8, '18 02 0118'), record(0, '')),
          device: '5125',
          fixes: [FIX, { ...FIX, satellites: 0, valid: false }],
          reply: '^5',
        },
        {
          frame: datagram(record(8, '07 02 0000 5a 04 00004041', '98')),
          device: '5125',
          fixes: [{ ...FIX, said: { ignition: false, external_voltage: 12 } }],
          reply: '^5',
        },
        {
          frame: datagram(Buffer.alloc(20)),
          error: 'malformed',
          envelope: { device: '5125', reply: '^5' },
        },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the voltage is a little-endian number: 11.94 V, not 1e-10 V',
      says: eachSaid((said) => (said.powerV === undefined ? said : { ...said, powerV: 11.9363 })),
    },
  ],
} satisfies ProtocolCases
