import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const HEAD = `M0028T0000816398975I${ID}E00001W*****`
const PLACE = /([+-]\d{9})([+-]\d{9})\d{8}/

export default {
  costly: { digits: `M0028T0000816398975I${many('1')}\n`, hashes: `${HEAD}${many('#')}\n` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `${HEAD}201126220010000068DA#RD01DA240000000001-013410000+052525000201120261500102702240330364400\r\n`,
          device: ID,
          fixes: [{ time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41, speed: kmh(36), heading: 270 }],
        },
        { frame: `${HEAD}1\r\n`, device: ID },
      ],
    },
  ],
  corrections: [
    {
      reason: 'coordinates are decimal degrees: as minutes they are above 60',
      says: ({ input, positions }) => {
        const [, longitude, latitude] = PLACE.exec(input.text ?? '') ?? []
        return {
          positions: positions.map((each) => ({ ...each, lat: Number(latitude) / 1e6, lon: Number(longitude) / 1e6 })),
        }
      },
    },
  ],
} satisfies ProtocolCases
