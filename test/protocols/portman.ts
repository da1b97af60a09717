import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const PLACE = `${ID},A,261120031316,N5231.5000W01324.6000,36`
const FIX = { time: '2026-11-20T03:13:16Z', latitude: 52.525, longitude: -13.41, speed: kmh(36) }

export default {
  costly: { commas: `%%${ID}${many(',')}\n`, 'one number': `%%${ID},A,261120031316,N${many('1')}\n` },
  frames: [
    {
      title: 'positions of each layout',
      frames: [
        {
          frame: `%%${PLACE},270,NA,95000000,NA,254,24,1.00,24\r\n`,
          device: ID,
          fixes: [{ ...FIX, heading: 270, satellites: 24, hdop: 1 }],
        },
        {
          frame: `$EXT,${PLACE},,NA,NA,11,25,174700.25,NA,01820000,108\r\n`,
          device: ID,
          fixes: [{ ...FIX, satellites: 11 }],
        },
        {
          frame: `$PTMLA,${PLACE},190,NA,C9830000,NA,108,8,2.66,16,GNA\r\n`,
          device: ID,
          fixes: [{ ...FIX, heading: 190, satellites: 8, hdop: 2.66 }],
        },
        ...['B', 'L'].map((status) => ({
          frame: `%%${PLACE.replace('A', status)},270,NA,95000000,NA,254,3,4.00,24\r\n`,
          device: ID,
          fixes: [{ ...FIX, valid: status === 'B', heading: 270, satellites: 3, hdop: 4 }],
        })),
        { frame: `%%${ID},B\r\n`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
