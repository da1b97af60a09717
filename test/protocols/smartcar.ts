import { eachPosition, many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const SIGNAL = { code: 'location-preciselocation', body: { latitude: 52.525, longitude: -13.41 } }
const event = (...signals: readonly object[]) =>
  post(
    '/',
    JSON.stringify({
      eventType: 'VEHICLE_STATE',
      vehicleId: 'v-1',
      meta: { deliveredAt: 1714558540000 },
      data: { signals },
    }),
  )
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41 }
const CHARGE = { code: 'tractionbattery-stateofcharge', body: { value: 78 } }

export default {
  costly: {
    'signals that are none': post('/', `{"vehicleId":"1","data":{"signals":[${many('{},').slice(0, -1)}]}}`),
  },
  frames: [
    {
      title: 'a place with the time of the car, of the event, and none',
      frames: [
        {
          frame: event(CHARGE, { ...SIGNAL, meta: { oemUpdatedAt: 1714558530000, fetchedAt: 1 } }),
          device: 'v-1',
          fixes: [FIX],
        },
        { frame: event(SIGNAL), device: 'v-1', fixes: [{ ...FIX, time: '2024-05-01T10:15:40Z' }] },
        { frame: event(CHARGE), device: 'v-1', none: 'no place' },
        { frame: post('/', '{}'), error: 'malformed' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the charge is that of the battery that drives the car, the voltage that of the charging station',
      says: eachPosition(() => ({ said: undefined })),
    },
  ],
} satisfies ProtocolCases
