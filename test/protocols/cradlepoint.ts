import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const PLACE = '5231.5000,N,01324.6000,W,12.5,270'
const FIX = { latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 }

export default {
  costly: { commas: `${ID},1${many(',')}\n`, 'one number': `${ID},170515,${many('1')}\n` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `${ID},110515,${PLACE},AT&T,,,-79,,-14.0,\r\n`,
          device: ID,
          fixes: [{ time: '2026-11-20T11:05:15Z', ...FIX }],
        },
        { frame: `${ID},515,${PLACE},,,,,,,\r\n`, device: ID, fixes: [{ time: '2026-11-20T00:05:15Z', ...FIX }] },
        { frame: `${ID},110515,${PLACE}\r\n`, device: ID, fixes: [{ time: '2026-11-20T11:05:15Z', ...FIX }] },
        { frame: `${ID},515,,,,,,,AT&T,,\r\n`, device: ID, none: 'no place' },
      ],
    },
  ],
} satisfies ProtocolCases
