import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `@GPSD,${ID}${many(',')}$`, 'one number': `@GPSD,${ID},R,20261120,000133,${many('1')}$` },
  frames: [
    {
      title: 'a login, a position, cells',
      frames: [
        { frame: `@LINK,${ID}$`, device: ID, none: 'login' },
        {
          frame: `@GPSD,${ID},R,20261120,000133,52.52,N,13.41,W,36,270,34,72,L,$`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T00:01:33Z',
              latitude: 52.52,
              longitude: -13.41,
              speed: kmh(36),
              heading: 270,
              altitude: 34,
              said: { battery_percent: 72 },
            },
          ],
        },
        {
          frame: `@LBSD,${ID},R,20261120,092110,302-490-75f8:-111,,,21,L,$`,
          device: ID,
          none: 'cells',
          said: { battery_percent: 21 },
        },
        { frame: `@LBSD,${ID},R$`, device: ID, none: 'cells' },
        { frame: `@HEAL,${ID},1$`, device: ID },
        { frame: '@TEXT,1$', error: 'unsupported' },
      ],
    },
  ],
} satisfies ProtocolCases
