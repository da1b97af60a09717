import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const ID = 'dev:356307042441013'
const BEST = { best_lat: 52.525, best_lon: -13.41, best_location_when: 1714558530, best_location: 'Berlin' }
const GPS = { where_lat: 52.525, where_lon: -13.41, where_when: 1714558530 }
const TOWER = { tower_lat: 52.6, tower_lon: -13.5, tower_when: 1714558535 }
const event = (more: object, device = ID) =>
  post(
    '/',
    JSON.stringify({
      event: 'a4489717-3ece-4fb6-beab-b40275c8c089',
      device,
      file: '_track.qo',
      when: 1714558532,
      received: 1714558540.12,
      body: { bearing: 12, velocity: 9.5, dop: 1.2 },
      ...TOWER,
      ...more,
    }),
  )
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41 }

export default {
  costly: { arrays: post('/', many('[')) },
  frames: [
    {
      title: 'places by GPS, by cells, and none',
      frames: [
        { frame: event({ ...BEST, best_location_type: 'gps' }), device: ID, fixes: [FIX] },
        { frame: event(BEST), device: ID, fixes: [FIX] },
        {
          frame: event({ ...BEST, ...GPS, best_lat: 52.7, best_lon: -13.6, best_location_type: 'triangulated' }),
          device: ID,
          fixes: [FIX],
        },
        {
          frame: event({ ...GPS, where_when: undefined }),
          device: ID,
          fixes: [{ ...FIX, time: '2024-05-01T10:15:32Z' }],
        },
        { frame: event({ ...BEST, best_location_type: 'tower' }), device: ID, none: 'cells' },
        { frame: event({}), device: ID, none: 'no place' },
        { frame: event(BEST, 'van-12'), error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases
