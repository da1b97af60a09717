import { many, post, type ProtocolCases } from '../support/protocol-cases.ts'

const uplink = (decoded_payload: object) =>
  post(
    '/',
    JSON.stringify({
      end_device_ids: { device_id: 'eui-a840000000000001' },
      uplink_message: { decoded_payload, received_at: '2024-05-01T10:15:30.5Z' },
    }),
  )

export default {
  costly: { arrays: post('/', many('[')) },
  frames: [
    {
      title: 'a payload with and without a place',
      frames: [
        {
          frame: uplink({ BatV: 4.002, Latitude: 52.525, Longitude: -13.41 }),
          device: 'eui-a840000000000001',
          fixes: [{ time: '2024-05-01T10:15:30.500Z', latitude: 52.525, longitude: -13.41 }],
        },
        { frame: uplink({ BatV: 4.002 }), device: 'eui-a840000000000001', none: 'no place' },
        { frame: post('/', '{}'), error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases
