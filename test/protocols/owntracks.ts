import { kmh } from '../../protocols/kit/index.ts'
import { get, many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const list = (entry: string) => `[${many(`${entry},`).slice(0, -1)}]`

export const LOCATION = {
  _type: 'location',
  tst: 1714558530,
  lat: 52.525,
  lon: 13.41,
  acc: 5,
  alt: 34,
  vel: 36,
  cog: 270,
  tid: 'v1',
}
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  altitude: 34,
  speed: kmh(36),
  heading: 270,
  accuracy: 5,
}

export default {
  costly: {
    'entries that are none': list('0'),
    'entries without a type': list('{}'),
  },
  frames: [
    {
      title: 'locations over HTTP',
      transport: 'http',
      frames: [
        {
          frame: post('/', JSON.stringify({ ...LOCATION, topic: 'owntracks/jane/phone' })),
          device: 'jane',
          fixes: [FIX],
        },
        {
          frame: post(
            '/',
            JSON.stringify([
              { ...LOCATION, batt: 46, bs: 2, t: 'u' },
              { ...LOCATION, batt: -1, bs: 1 },
            ]),
          ),
          device: 'v1',
          fixes: [
            { ...FIX, said: { battery_percent: 46, charging: true } },
            { ...FIX, said: { charging: false } },
          ],
        },
        {
          frame: post('/', JSON.stringify({ ...LOCATION, t: 'I', uext: 12.4, ubatt: 4.1 })),
          device: 'v1',
          fixes: [{ ...FIX, said: { ignition: false, external_voltage: 12.4, battery_voltage: 4.1 } }],
        },
        { frame: post('/', '{"_type":"lwt"}'), none: 'no location' },
        { frame: post('/', ''), none: 'no location' },
        {
          frame: post('/', '{"_type":"waypoint","tid":"v1","lat":52.5,"lon":13.4}'),
          device: 'v1',
          none: 'no location',
        },
        { frame: get('/?id=jane&lat=52.5&lon=13.4'), error: 'unsupported' },
        { frame: post('/', '{"_type":"location of a later version","tid":"v1"}'), device: 'v1' },
        {
          frame: post('/', JSON.stringify([{ _type: 'new', tid: 'v1' }, LOCATION, {}])),
          device: 'v1',
          fixes: [FIX],
          unreadable: [0, 2],
        },
      ],
    },
    {
      title: 'a location over MQTT',
      transport: 'mqtt',
      frames: [{ frame: JSON.stringify([LOCATION, LOCATION]), fixes: [FIX, FIX] }],
    },
  ],
  corrections: [
    {
      reason: "the id is the app's UserID, over HTTP as over MQTT; the peer takes the whole topic",
      frames: ['owntracks-005'],
      says: (vector) => ({
        deviceId: 'qtripp',
        positions: vector.positions.map((position) => ({ ...position, deviceId: 'qtripp' })),
      }),
    },
  ],
} satisfies ProtocolCases
