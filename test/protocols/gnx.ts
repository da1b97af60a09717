import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: {
    commas: `$GNX_LOC,${ID}${many(',')}\n`,
    'one number': `$GNX_LOC,${ID},095,0,102134,201126,102134,201126,1,${many('1')}\n`,
  },
  frames: [
    {
      title: 'a position, and none',
      frames: [
        {
          frame: `$GNX_LOC,${ID},095,0,102139,201126,102134,201126,1,52.520000,S,013.410000,E,032,165.32,12,25,0,A,E,2,GNX01001,12*\n\r`,
          device: ID,
          fixes: [{ time: '2026-11-20T04:51:34Z', latitude: -52.52, longitude: 13.41 }],
        },
        {
          frame: `$GNX_DIO,${ID},112,1,142849,201126,142714,201126,0,000000000,N,0000000000,E,0,0,GNX04008,1A*\n\r`,
          device: ID,
          none: 'no fix',
        },
        {
          frame: `$GNX_MIF,${ID},143,0,102139,201126,102134,201126,1,52.520000,S,013.410000,E,0,05396274,ROUTE_2###,Deo ###,GNX04008,B0*\n\r`,
          device: ID,
          fixes: [{ time: '2026-11-20T04:51:34Z', latitude: -52.52, longitude: 13.41, said: { driver: '05396274' } }],
        },
        { frame: `$GNX_ABC,${ID},1*\n\r`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
