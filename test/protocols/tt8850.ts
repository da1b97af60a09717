import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const binary = (fields: string) =>
  Buffer.concat([
    Buffer.from(`0005${fields}0001`, 'hex'),
    Buffer.from(ID),
    Buffer.from('41010300000000ff336130032164401a0b14110e125a0d6c', 'hex'),
  ])

export default {
  costly: { commas: `aa,1,0,GTFRI,1,${ID}${many(',')}$`, 'one number': `aa,1,0,GTFRI,1,${ID},,0,0,1,${many('1')}$` },
  frames: [
    {
      title: 'reports',
      frames: [
        {
          frame: `aa,007F,0,GTFRI,020102,${ID},van,0,0,1,3,36,270,34.5,-13.41,52.52,20261120171418,0734,0004,FF61$`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T17:14:18Z',
              latitude: 52.52,
              longitude: -13.41,
              altitude: 34.5,
              speed: kmh(36),
              heading: 270,
              hdop: 3,
            },
          ],
        },
        { frame: `aa,0017,0,GTPNA,,${ID},,0,0,1,0,,,,0,0,,,,,,99,20261120190153,0601$`, device: ID, none: 'no fix' },
        { frame: `aa,0017,0,GTXYZ,,${ID},1$`, device: ID },
      ],
    },
    {
      title: 'binary reports',
      transport: 'udp',
      frames: [
        {
          frame: binary('0003'),
          device: ID,
          fixes: [{ time: '2026-11-20T17:14:18Z', latitude: 52.52, longitude: -13.41, hdop: 3 }],
        },
        { frame: binary('0007'), device: ID, fixes: [] },
      ],
    },
  ],
} satisfies ProtocolCases
