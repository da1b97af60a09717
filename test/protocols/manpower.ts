import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = { time: '2026-11-20T02:36:08Z', latitude: 52.525, longitude: 13.41, speed: knots(12.5) }

export default {
  costly: { commas: `simei:${ID}${many(',')};`, 'one number': `simei:${ID},,,a,1,1,1,261120023608,A,${many('1')};` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `simei:${ID},,,tracker,51,24,1.73,261120023608,A,5231.5000,N,01324.6000,E,12.5,28B9,1DED;`,
          device: ID,
          fixes: [FIX],
        },
        {
          frame: `simei:${ID},,,SMS,51,24,1.73,261120023608,V,5231.5000,S,01324.6000,W,12.5,28B9,1DED;`,
          device: ID,
          fixes: [{ ...FIX, valid: false, latitude: -52.525, longitude: -13.41 }],
        },
        { frame: `simei:${ID},hello;`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
