import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const REPORT = { id: '1', ts: '2024-05-01T10:15:30.362Z', rpt: 'hf', bear: 270, spd: 1250 }

export default {
  costly: { arrays: many('[') },
  frames: [
    {
      title: 'a report with and without a place',
      frames: [
        {
          frame: JSON.stringify({ ...REPORT, location: { lat: 52.525, lon: -13.41 } }),
          fixes: [{ time: REPORT.ts, latitude: 52.525, longitude: -13.41, heading: 270, speed: 12.5 }],
        },
        { frame: JSON.stringify(REPORT), none: 'no place' },
        { frame: JSON.stringify({ ...REPORT, ign: 'off' }), none: 'no place', said: { ignition: false } },
        { frame: '{"location":{"lat":1,"lon":2}}', error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases
