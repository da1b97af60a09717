import { knots } from '../../protocols/kit/index.ts'
import { get, many, type ProtocolCases, post } from '../support/protocol-cases.ts'

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
        { frame: get('/?id=1&batt=80'), device: '1', none: 'no place', said: { battery_percent: 80 } },
        {
          frame: get(
            '/?id=1&lat=51.02&lon=13.4&timestamp=1795800000&charge=true&ignition=0&motion=false&driverUniqueId=AB12&alarm=sos',
          ),
          device: '1',
          fixes: [
            {
              time: 1795800000000,
              latitude: 51.02,
              longitude: 13.4,
              said: { ignition: false, moving: false, charging: true, driver: 'AB12', alarms: ['sos'] },
            },
          ],
        },
        {
          frame: post(
            '/',
            JSON.stringify({
              device_id: 'van-12',
              location: { ...LOCATION, is_moving: true, battery: { level: 0.79, is_charging: false } },
            }),
          ),
          device: 'van-12',
          fixes: [
            {
              time: '2024-05-01T10:15:30.250Z',
              ...COORDS,
              said: { moving: true, battery_percent: 79, charging: false },
            },
          ],
        },
        { frame: get('/?id=1&lat=&lon='), device: '1', none: 'no place' },
        { frame: get('/?id=1&best_lat=52.5&best_lon=13.4'), device: '1', fixes: [] },
        {
          frame: get('/log?id=33334444&lat=51.02&longitude=13.4&time=2026-11-27T17:20:00.000Z&s=1.5'),
          device: '33334444',
          fixes: [{ time: '2026-11-27T17:20:00Z', latitude: 51.02, longitude: 13.4, speed: 1.5 }],
        },
        {
          frame: get(
            '/?id=1&lat=51.02&lon=13.4&sat=9&desc=&alt=34.0&acc=10.6&dir=45.0&prov=gps&spd_kph=7.2&spd=2.0&timestamp=1795800000&timeoffset=2026-11-27T18:20:00.000+01:00&time=2026-11-27T17:20:00.000Z&batt=27.0&ser=a1&hdop=&vdop=&dist=0',
          ),
          device: '1',
          fixes: [
            {
              time: '2026-11-27T17:20:00Z',
              latitude: 51.02,
              longitude: 13.4,
              altitude: 34,
              speed: 2,
              heading: 45,
              accuracy: 10.6,
              satellites: 9,
              said: { battery_percent: 27 },
            },
          ],
        },
        {
          frame: post(
            '/api/webhook/x',
            'latitude=51.02&longitude=13.4&device=van-12&accuracy=8.0&battery=91.0&speed=2.5&direction=359.0&altitude=45.0&provider=gps&activity=IN_VEHICLE',
          ),
          device: 'van-12',
          fixes: [
            {
              time: '2026-11-20T12:00:00Z',
              latitude: 51.02,
              longitude: 13.4,
              altitude: 45,
              speed: 2.5,
              heading: 359,
              accuracy: 8,
              said: { battery_percent: 91 },
            },
          ],
        },
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
