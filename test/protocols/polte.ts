import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const LOCATION = { latitude: 52.525, longitude: -13.41, altitude: 34, confidence: 120.5 }
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, altitude: 34, accuracy: 120.5 }
const report = (location: object) =>
  post('/', JSON.stringify({ ueToken: 'ALT1', time: '2024-05-01T10:15:30Z', location }))

export default {
  costly: { arrays: post('/', many('[')) },
  frames: [
    {
      title: 'places with both kinds of times, and none',
      frames: [
        { frame: report(LOCATION), device: 'ALT1', fixes: [FIX] },
        {
          frame: report({ ...LOCATION, detected_at: 1714558520 }),
          device: 'ALT1',
          fixes: [{ ...FIX, time: '2024-05-01T10:15:20Z' }],
        },
        {
          frame: post(
            '/',
            JSON.stringify({
              ueToken: 'ALT1',
              time: FIX.time,
              location: LOCATION,
              report: { battery: { level: 100, voltage: 3.52 } },
            }),
          ),
          device: 'ALT1',
          fixes: [{ ...FIX, said: { battery_voltage: 3.52, battery_percent: 100 } }],
        },
        { frame: report({}), device: 'ALT1', none: 'no place' },
        { frame: post('/', '{}'), error: 'malformed' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'a request is answered, with 200',
      frames: ['polte-000'],
      says: { replies: [{ http: 200, bodyHex: '' }] },
    },
  ],
} satisfies ProtocolCases
