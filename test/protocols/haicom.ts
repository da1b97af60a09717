import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `$GPRS${ID}${many(',')}*`, digits: `$GPRS${ID},T,261120,230031,${many('5')}*` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `$GPRS${ID},T100001,261120,230031,5523150001324600,0125,2700,000001,,,1,00#V040*`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T23:00:31Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: knots(12.5),
              heading: 270,
              said: { battery_voltage: 4 },
            },
          ],
        },
        {
          frame: `$GPRS${ID},T100001,261120,230031,1523150001324600,0000,0000,000001*`,
          device: ID,
          fixes: [{ time: '2026-11-20T23:00:31Z', latitude: -52.525, longitude: -13.41, speed: 0, heading: 0 }],
        },
        { frame: `$GPRS${ID},x*`, device: ID },
      ],
    },
    {
      title: 'a position over UDP',
      transport: 'udp',
      frames: [
        {
          frame: `$GPRS${ID},T100001,261120,230031,1523150001324600,0000,0000,000001*`,
          device: ID,
          fixes: [{ time: '2026-11-20T23:00:31Z', latitude: -52.525, longitude: -13.41, speed: 0, heading: 0 }],
        },
      ],
    },
  ],
} satisfies ProtocolCases
