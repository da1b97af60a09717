import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const POSITION = {
  id: 12,
  deviceId: 7,
  protocol: 'teltonika',
  serverTime: '2024-05-01T10:15:33.120+00:00',
  deviceTime: '2024-05-01T10:15:32.000+00:00',
  fixTime: '2024-05-01T10:15:30.000+00:00',
  outdated: false,
  valid: true,
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34,
  speed: 10,
  course: 270,
  address: null,
  accuracy: 0,
  network: null,
  attributes: { sat: 8, hdop: 0.9, ignition: true },
}
const forwarded = (position: object | null, more: object = {}) =>
  post('/', JSON.stringify({ position, device: { id: 7, name: 'Van 12', uniqueId: ID, status: 'online' }, ...more }))
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34,
  speed: knots(10),
  heading: 270,
  hdop: 0.9,
  satellites: 8,
}

export default {
  costly: { arrays: post('/', many('[')) },
  frames: [
    {
      title: 'positions',
      frames: [
        { frame: forwarded(POSITION), device: ID, fixes: [FIX] },
        {
          frame: forwarded(
            { ...POSITION, fixTime: null, valid: false, accuracy: 12.5, attributes: {} },
            { users: [{ id: 1 }] },
          ),
          device: ID,
          fixes: [
            {
              ...FIX,
              time: '2024-05-01T10:15:32Z',
              valid: false,
              accuracy: 12.5,
              hdop: undefined,
              satellites: undefined,
            },
          ],
        },
        { frame: forwarded(POSITION, { event: { type: 'ignitionOn', deviceId: 7 } }), device: ID, fixes: [FIX] },
        { frame: forwarded(null, { event: { type: 'deviceOffline', deviceId: 7 } }), device: ID, none: 'no place' },
        { frame: post('/', JSON.stringify({ position: POSITION, device: { id: 7 } })), error: 'malformed' },
        { frame: post('/', 'id=1&lat=52.5&lon=13.4'), error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases
