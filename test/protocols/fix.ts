import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const list = (entry: string) => `[${many(`${entry},`).slice(0, -1)}]`

const ENTRY = { lat: 52.525, lon: 13.41, timestamp: 1714558530, accuracy: 5, speed: 10, heading: 270, altitude: 34 }
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  altitude: 34,
  speed: 10,
  heading: 270,
  accuracy: 5,
}

export default {
  costly: {
    'entries that are none': list('0'),
    'entries without a place': list('{"timestamp":1}'),
    'arrays in arrays': many('['),
  },
  frames: [
    {
      title: 'an object and an array',
      frames: [
        {
          frame: JSON.stringify({ ...ENTRY, hdop: 0.9, satellites: 9 }),
          fixes: [{ ...FIX, hdop: 0.9, satellites: 9 }],
        },
        { frame: JSON.stringify([ENTRY, { ...ENTRY, valid: false }]), fixes: [FIX, { ...FIX, valid: false }] },
        { frame: JSON.stringify([{ ...ENTRY, lat: 'x' }, ENTRY, 7]), fixes: [FIX], unreadable: [0, 2] },
        { frame: '{"lat":1}', error: 'malformed' },
        { frame: '[]', none: 'nothing' },
      ],
    },
    {
      title: 'times, and a latitude beyond 90, which the gateway filters',
      frames: [
        { frame: '{"lat":-1.5,"lon":2,"timestamp":0}', fixes: [{ time: 0, latitude: -1.5, longitude: 2 }] },
        ...[1714558530.25, 1714558530250, '2024-05-01T12:15:30.25+02:00'].map((timestamp) => ({
          frame: JSON.stringify({ ...ENTRY, timestamp }),
          fixes: [{ ...FIX, time: '2024-05-01T10:15:30.25Z' }],
        })),
        { frame: JSON.stringify({ ...ENTRY, lat: 91 }), fixes: [{ ...FIX, latitude: 91 }] },
      ],
    },
    {
      title: 'null is absent, −1 not known, 360° is 0°, and words are no measurement',
      frames: [
        {
          frame: JSON.stringify({
            ...ENTRY,
            accuracy: null,
            speed: -1,
            heading: 360,
            hdop: -1,
            altitude: null,
            valid: null,
          }),
          fixes: [{ time: FIX.time, latitude: 52.525, longitude: 13.41, heading: 0 }],
        },
        {
          frame:
            '{"lat":1,"lon":2,"timestamp":3,"speed":"fast","altitude":NaN,"accuracy":-Infinity,"hdop":{},"heading":"\\"NaN"}',
          fixes: [{ time: 3000, latitude: 1, longitude: 2 }],
        },
      ],
    },
  ],
} satisfies ProtocolCases
