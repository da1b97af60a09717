import { knots } from '../../protocols/kit/index.ts'
import { get, many, post, type ProtocolCases } from '../support/protocol-cases.ts'

const list = (entry: string) => `[${many(`${entry},`).slice(0, -1)}]`

const COORDS = { latitude: 52.525, longitude: 13.41, accuracy: 4.5, speed: 10, heading: 270, altitude: 34 }
const LOCATION = { timestamp: '2024-05-01T10:15:30.250Z', coords: COORDS }
const feature = (properties: object, coordinates: unknown = [13.41, 52.525]) => ({
  type: 'Feature',
  geometry: { type: 'Point', coordinates },
  properties: { timestamp: '2024-05-01T03:15:30-0700', ...properties },
})
const overland = (locations: readonly object[], uri = '/', headers = {}) =>
  post(uri, JSON.stringify({ locations, trip: {} }), headers)
const OVERLAND = { altitude: 34, vertical_accuracy: 3, speed: 4, course: 270, horizontal_accuracy: 30 }
const OVERLAND_FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  altitude: 34,
  speed: 4,
  heading: 270,
  accuracy: 30,
}
const UNKNOWN = { altitude: 0, vertical_accuracy: -1, speed: -1, course: -1, horizontal_accuracy: -1 }
const PLACE = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: 13.41 }
const OK = { headers: { 'content-type': 'application/json' }, body: '{"result":"ok"}' }
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
    'locations of Overland that are none': post('/?id=1', `{"locations":${list('0')}}`),
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
    {
      title: 'batches of Overland',
      transport: 'http',
      frames: [
        {
          frame: overland([feature({ ...OVERLAND, device_id: 'van-12' })], '/', { authorization: 'Bearer a-secret' }),
          device: 'van-12',
          secret: 'a-secret',
          fixes: [OVERLAND_FIX],
          response: OK,
        },
        {
          frame: overland([feature({ ...UNKNOWN, device_id: '' }), feature({}, null)], '/?id=van-12'),
          device: 'van-12',
          fixes: [{ ...PLACE, valid: false }],
          unreadable: [1],
          response: OK,
        },
        {
          frame: overland([feature({ device_id: 'van-12' }), feature({ device_id: 'van-13' })]),
          fixes: [
            { ...PLACE, device: 'van-12' },
            { ...PLACE, device: 'van-13' },
          ],
          response: OK,
        },
        { frame: overland([], '/?id=van-12'), device: 'van-12', none: 'no place', response: OK },
        { frame: overland([feature({})]), error: 'malformed' },
        { frame: overland([feature({ device_id: 'van-12' }, [13.41])]), error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases
