import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const ID = 'eui-a840000000000001'
const uplink = (decoded_payload: object) =>
  post(
    '/',
    JSON.stringify({
      end_device_ids: { device_id: ID },
      uplink_message: { decoded_payload, received_at: '2024-05-01T10:15:30.5Z' },
    }),
  )
const FIX = { time: '2024-05-01T10:15:30.500Z', latitude: 52.525, longitude: -13.41 }
const STATUS = { ALARM_status: 'FALSE', BatV: 4.002, LON: 'ON', MD: 0, Transport: 'MOVE' }

export default {
  costly: { arrays: post('/', many('[')) },
  frames: [
    {
      title: 'a payload with and without a place',
      frames: [
        {
          frame: uplink({ BatV: 4.002, ALARM_status: 'TRUE', Latitude: 52.525, Longitude: -13.41 }),
          device: ID,
          fixes: [{ ...FIX, said: { battery_voltage: 4.002, alarms: ['sos'] } }],
        },
        { frame: uplink({ BatV: 4.002 }), device: ID, none: 'no place', said: { battery_voltage: 4.002 } },
        { frame: post('/', '{}'), error: 'malformed' },
      ],
    },
    {
      title: 'a TrackerD: now, from its memory, and without a place',
      frames: [
        {
          frame: uplink({ ...STATUS, Latitude: 52.525, Longitud: -13.41, Location: '52.525,-13.41' }),
          device: ID,
          fixes: [{ ...FIX, said: { moving: true, battery_voltage: 4.002 } }],
        },
        {
          frame: uplink({ Latitude: 52.525, Location: '52.525,-13.41', Date: '2024:5:1', Time: '9:5:7' }),
          device: ID,
          fixes: [{ ...FIX, time: '2024-05-01T09:05:07Z' }],
        },
        { frame: uplink(STATUS), device: ID, none: 'no place', said: { moving: true, battery_voltage: 4.002 } },
      ],
    },
  ],
} satisfies ProtocolCases
