import { knots } from '../../protocols/kit/index.ts'
import { get, many, post, type ProtocolCases } from '../support/protocol-cases.ts'

const list = (entry: string) => `[${many(`${entry},`).slice(0, -1)}]`

const COORDS = { latitude: 52.525, longitude: 13.41, accuracy: 4.5, speed: 10, heading: 270, altitude: 34 }
const LOCATION = { timestamp: '2024-05-01T10:15:30.250Z', coords: COORDS }
const QUERY =
  'id=van-12&lat=52.525&lon=13.41&timestamp=1714558530&speed=10&bearing=360&altitude=34&accuracy=4.5&hdop=1.2'

export default {
  costly: {
    'locations that are none': post('/?id=1', `{"location":${list('0')}}`),
    'a device that is a number many times': post('/?id=1', `{${many('"device_id":1,')}"location":null}`),
    'spaces behind a device': post('/?id=1', `{"device_id"${many(' ')}:1}`),
    parameters: many('a=1&'),
    escapes: `id=1&lat=${many('%4')}`,
    commas: `id=1&location=${many(',')}`,
  },
  frames: [
    {
      title: 'a query and JSON',
      transport: 'http',
      frames: [
        {
          frame: get(`/?${QUERY}&token=a%20b`),
          device: 'van-12',
          secret: 'a b',
          fixes: [
            {
              time: '2024-05-01T10:15:30Z',
              latitude: 52.525,
              longitude: 13.41,
              altitude: 34,
              speed: knots(10),
              heading: 0,
              accuracy: 4.5,
              hdop: 1.2,
            },
          ],
        },
        {
          frame: post('/', JSON.stringify({ device_id: 'van-12', location: LOCATION })),
          device: 'van-12',
          fixes: [{ time: '2024-05-01T10:15:30.250Z', ...COORDS }],
        },
        { frame: get('/?lat=1&lon=2'), error: 'malformed' },
        { frame: get('/?id=1&batt=80'), device: '1', none: 'no place' },
        { frame: get('/?id=1&lat=&lon='), device: '1', none: 'no place' },
        { frame: get('/?id=1&latitude=52.5&longitude=13.4'), device: '1', fixes: [] },
      ],
    },
  ],
} satisfies ProtocolCases
