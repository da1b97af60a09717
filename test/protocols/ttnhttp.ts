import { knots } from '../../protocols/kit/index.ts'
import { many, post, type ProtocolCases } from '../support/protocol-cases.ts'

const uplink = (decoded_payload: object, device_id = 'van-12') =>
  post(
    '/',
    JSON.stringify({
      end_device_ids: { device_id },
      uplink_message: { decoded_payload, received_at: '2024-05-01T10:15:31.123456789Z' },
    }),
  )
const PAYLOAD = { latitude: 52.525, longitude: -13.41, altitude: 34, speed: 12.5, heading: 270, hdop: 0.9, sats: 8 }
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, altitude: 34 }

export default {
  costly: {
    channels: uplink(Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`gps_${i}x`, {}]))),
    arrays: post('/', many('[')),
  },
  frames: [
    {
      title: 'a payload of its own, of Cayenne LPP, and without a place',
      frames: [
        {
          frame: uplink({ ...PAYLOAD, time: '2024-05-01T10:15:30.000Z' }),
          device: 'van-12',
          fixes: [{ ...FIX, speed: knots(12.5), heading: 270, hdop: 0.9, satellites: 8 }],
        },
        {
          frame: uplink({ gps_5: { latitude: 52.525, longitude: -13.41, altitude: 34 }, temperature_0: 20 }),
          device: 'van-12',
          fixes: [{ ...FIX, time: '2024-05-01T10:15:31.123Z' }],
        },
        { frame: uplink({ temperature_0: 20 }), device: 'van-12', none: 'no place' },
        { frame: uplink({}, ''), error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases
