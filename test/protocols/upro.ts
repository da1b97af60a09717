import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '861234567890123'
/** 52° 31.5′ N, 13° 24.6′ E, 10 kn, 270°. */
const PLACE = 'A2315305231500001324600060527010524'
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: knots(10), heading: 270 }

export default {
  costly: {
    'one field': `*HQ201${ID},BA&A${many('1')}#`,
    'empty fields': `*HQ201${ID},BA${many('&')}#`,
  },
  frames: [
    {
      title: 'positions, with an answer where one is wanted',
      frames: [
        {
          frame: `*HQ201${ID},BA&${PLACE}&B0100060010&V0109&T65#`,
          device: ID,
          fixes: [
            { ...FIX, said: { ignition: true, external_voltage: 10.9, battery_percent: 65, alarms: ['vibration'] } },
          ],
          reply: '*HQ20YBA#',
        },
        {
          frame: `*VK200${ID},AB1&${PLACE}&F0195&G000340&R2409#`,
          device: ID,
          fixes: [{ ...FIX, speed: knots(19.5), altitude: 34, satellites: 9 }],
        },
        {
          frame: `*MG200${ID},BA&A2315305231500001324600010527010524&O0600&F0001\0&F0999#`,
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41, valid: false, speed: knots(0.1), satellites: 6 }],
        },
      ],
    },
    {
      title: 'no position',
      frames: [
        {
          frame: `*VK201${ID},AH&B0000000040&M940&Y12922&T0268#`,
          device: ID,
          none: 'heartbeat',
          said: { ignition: false, external_voltage: 12.922, battery_percent: 94, alarms: ['low_power'] },
          reply: '*VK20YAH#',
        },
        { frame: `*VK200${ID},BA&X262,6,1016,13931,60&E240501231530#`, device: ID, none: 'cells' },
        {
          frame: `*VK201${ID},BA&A${'0'.repeat(34)}&B0000000000#`,
          device: ID,
          none: 'no fix',
          said: { ignition: false },
          reply: '*VK20YBA#',
        },
        { frame: `*VK200${ID},BA&B0000000000#`, device: ID, none: 'no place', said: { ignition: false } },
        { frame: `*VK201${ID},ZZ&B0000000000#`, device: ID, said: { ignition: false }, reply: '*VK20YZZ#' },
        { frame: `*VK201${ID},BA&A231530#`, error: 'malformed', envelope: { device: ID, reply: '*VK20YBA#' } },
        { frame: '*HQ,8800000001,V1,101530#', error: 'unsupported' },
        { frame: '*HQ20#', error: 'truncated' },
      ],
    },
  ],
} satisfies ProtocolCases
