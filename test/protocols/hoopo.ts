import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = 'BCCD1234'
const FIX = { time: '2026-11-20T06:30:15Z', latitude: 52.525, longitude: -13.41 }
const EVENT = { latitude: 52.525, longitude: -13.41, accuracyLevel: 'High', eventType: 'Arrival' }

export default {
  costly: { 'an object that does not end': many('{"a":'), 'small objects': many('{}') },
  frames: [
    {
      title: 'positions',
      frames: [
        { frame: message({ eventData: EVENT }), device: ID, fixes: [FIX] },
        {
          frame: message({ eventData: EVENT, movement: { Speed: 36 } }),
          device: ID,
          fixes: [{ ...FIX, speed: 18.52 }],
        },
        {
          frame: message({ eventData: { eventType: 'Battery', batteryLevel: 40 } }),
          device: ID,
          none: 'no place',
          said: { battery_percent: 40 },
        },
        {
          frame: message({ eventData: { ...EVENT, batteryLevel: 100 } }),
          device: ID,
          fixes: [{ ...FIX, said: { battery_percent: 100 } }],
        },
        { frame: message({ eventData: { latitude: 52.525 } }), device: ID, fixes: [] },
        { frame: message({}), device: ID },
        { frame: '{"deviceId"}', error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases

function message(members: object): string {
  return JSON.stringify({ deviceId: ID, assetName: 'A "van" {1}', ...members, eventTime: FIX.time })
}
