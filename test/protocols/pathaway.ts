import { knots } from '../../protocols/kit/index.ts'
import { eachPosition, get, many, type ProtocolCases } from '../support/protocol-cases.ts'

const LOC = '$PWS,1,"A, B",,,010524,101530,52.525000,-13.410000,34.00,12,270,"x",0*58'

export default {
  costly: {
    commas: get(`/?UserName=1&LOC=$PWS,1,"",,,${many(',')}`),
    quotes: get(`/?UserName=1&LOC=$PWS,1,${many('"')}`),
  },
  frames: [
    {
      title: 'a sentence, and a request without one',
      frames: [
        {
          frame: get(`/?UserName=jane&Password=s&LOC=${encodeURIComponent(LOC)}`),
          device: 'jane',
          secret: 's',
          fixes: [
            {
              time: '2024-05-01T10:15:30Z',
              latitude: 52.525,
              longitude: -13.41,
              altitude: 34 * 0.3048,
              speed: knots(12),
              heading: 270,
            },
          ],
        },
        {
          frame: get(`/?UserName=jane&LOC=${encodeURIComponent(LOC.replace('270', '-1').replace('34.00', ''))}`),
          device: 'jane',
          fixes: [{ time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, speed: knots(12) }],
        },
        { frame: get('/?UserName=jane'), device: 'jane', none: 'no place' },
        { frame: get('/'), error: 'malformed' },
      ],
    },
  ],
  corrections: [
    {
      reason: '"Elevation in Feet"',
      says: eachPosition(({ altitude }) => ({ altitude: altitude * 0.3048 })),
    },
  ],
} satisfies ProtocolCases
