import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const SENT = '*261120150012'
const ID = 'CW9999C00000042'
const PLACE = '150010A5231.5000N01324.6000W036.0261120270.0000000000L000000'
const FIX = { time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41, speed: kmh(36), heading: 270 }

export default {
  costly: { digits: `${SENT}UB05${many('1')}^`, letters: `${SENT}UA012${many('a')}^` },
  frames: [
    {
      title: 'a login, positions, a heartbeat',
      frames: [
        { frame: `${SENT}UB05${ID}${PLACE}^`, device: ID, fixes: [FIX] },
        { frame: `${SENT}UD00${PLACE.replace('A', 'V')}^`, fixes: [{ ...FIX, valid: false }] },
        { frame: `${SENT}UA012Hi-jack${PLACE}^`, fixes: [FIX] },
        { frame: `${SENT}UB00HSO^`, none: 'heartbeat' },
        { frame: `${SENT}UX07^` },
      ],
    },
  ],
  corrections: [
    {
      reason: 'it has a place like the others, with one digit less in front of the point of the speed',
      frames: ['carscop-004'],
      says: { positions: [position('2016-06-18T23:26:14.000Z')] },
    },
    {
      reason: 'the same',
      frames: ['carscop-005'],
      says: { positions: [position('2016-06-18T23:25:29.000Z')] },
    },
  ],
} satisfies ProtocolCases

function position(time: string) {
  return {
    time,
    valid: true,
    lat: 50 + 9.1747 / 60,
    lon: 19 + 10.3829 / 60,
    altitude: 0,
    speedKnots: 0,
    course: 298.28,
  }
}
