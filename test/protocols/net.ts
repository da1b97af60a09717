import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 54.6872,
  longitude: 25.279733,
  speed: 18.52,
  heading: 214,
}

export default {
  costly: { 'a line without an end': `@L036${many('1')}`, beginnings: many('@L') },
  frames: [
    {
      title: 'positions',
      frames: [
        { frame: position('1', '1'), device: ID, fixes: [FIX] },
        {
          frame: position('0', '0'),
          device: ID,
          fixes: [{ ...FIX, latitude: -FIX.latitude, longitude: -FIX.longitude }],
        },
        { frame: '@L036!', fixes: [] },
        { frame: `@L036${ID}!`, device: ID, fixes: [] },
        { frame: '@L044!' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'no part of these frames is known to say that a fix is invalid, and one was sent at 73 km/h',
      says: eachPosition(() => ({ valid: true })),
    },
  ],
} satisfies ProtocolCases

function position(north: string, east: string): string {
  return `@L036${ID}1220112606301505441232${north}02516784${east}000000010E1000F3980D64000!`
}
