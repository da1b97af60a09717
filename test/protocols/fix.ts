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
        { frame: JSON.stringify({ ...ENTRY, satellites: 9 }), fixes: [{ ...FIX, satellites: 9 }] },
        { frame: JSON.stringify([ENTRY, { ...ENTRY, valid: false }]), fixes: [FIX, { ...FIX, valid: false }] },
        { frame: JSON.stringify([ENTRY, {}]), fixes: [FIX], unreadable: [1] },
        { frame: '{"lat":1}', error: 'malformed' },
        { frame: '[]', none: 'nothing' },
      ],
    },
  ],
} satisfies ProtocolCases
