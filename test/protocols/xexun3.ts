import { crc16CcittFalse } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

function frame(kind: string, content: Buffer): Buffer {
  const covered = Buffer.concat([bytes(`03 ${kind} 0861045080000017`), content])
  return Buffer.concat([bytes('fc'), u(2, covered.length), covered, u(2, crc16CcittFalse(covered)), bytes('cf')])
}

const PLACE = Buffer.alloc(20)
PLACE.writeDoubleBE(52.525, 0)
PLACE.writeDoubleBE(-13.41, 8)
PLACE.writeFloatBE(34.5, 16)
const position = (flags: string) => Buffer.concat([bytes(`64 ${flags}`), u(4, 1714558530), PLACE, bytes('1a08 0000')])
const answer = (kind: string) => ({ device: '861045080000017', reply: frame(kind, bytes('00')) })

export default {
  costly: { 'a long position': frame('2006', Buffer.alloc(COSTLY_SIZE - 100, 0xff)) },
  frames: [
    {
      title: 'a login, positions and a kind that is not known',
      frames: [
        { frame: frame('2001', Buffer.alloc(0)), none: 'login', ...answer('2001') },
        {
          frame: frame('2006', position('21')),
          fixes: [{ time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, altitude: 34.5, satellites: 8 }],
          ...answer('2006'),
        },
        {
          frame: frame('2006', Buffer.concat([position('21'), bytes('00a40011046a1055')])),
          fixes: [
            {
              time: '2024-05-01T10:15:30Z',
              latitude: 52.525,
              longitude: -13.41,
              altitude: 34.5,
              satellites: 8,
              said: { battery_percent: 85 },
            },
          ],
          ...answer('2006'),
        },
        { frame: frame('2006', bytes('6421')), error: 'truncated', envelope: answer('2006') },
        { frame: frame('2006', position('20')), fixes: [], ...answer('2006') },
        { frame: frame('2007', Buffer.alloc(0)), ...answer('2007') },
      ],
    },
  ],
} satisfies ProtocolCases
