import { kmh } from '../../protocols/kit/index.ts'
import { eachPosition, eachSaid, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const IMEIS: Readonly<Record<string, string>> = {
  'visiontek-001': '358072044271838',
  'visiontek-004': '861785006462448',
}
const TIME = '20,11,26,15,05,48'
const FIX = { time: '2026-11-20T15:05:48Z', latitude: 52.525, longitude: -13.41, speed: kmh(36), heading: 270 }

export default {
  costly: { commas: `$1,117${many(',')}#`, 'one number': `$1,117,${TIME},${many('1')}#` },
  frames: [
    {
      title: 'positions of each firmware',
      frames: [
        {
          frame: `$1,117,${TIME},5231.5000N,01324.6000W,0360,270,0,09,2062,0,0,VAJRA V1.00,A#`,
          device: '117',
          fixes: [{ ...FIX, satellites: 9, said: { ignition: false } }],
        },
        {
          frame: `$1,VMC,${ID},${TIME},52.525000N,013.410000W,036.0,270,00.8,0074,6390,0,V,0#`,
          device: ID,
          fixes: [{ ...FIX, valid: false, hdop: 0.8, altitude: 74 }],
        },
        {
          frame: `$1,AP9,${ID},${TIME},52315000N,013246000W,036.0,270,0550,11,0,1,26,A,0000000000#`,
          device: ID,
          fixes: [{ ...FIX, altitude: 550, satellites: 11, said: { ignition: true } }],
        },
        {
          frame: `$1,AP9,${ID},${TIME},52315000N,013246000W,036.0,270,0550,11,A#`,
          device: ID,
          fixes: [{ ...FIX, altitude: 550, satellites: 11 }],
        },
        { frame: `$1,AP9,${TIME},52315000N,013246000W,036.0,270,0,A#`, device: 'AP9', fixes: [FIX] },
        { frame: `$1,VMC,${ID},${TIME},00.0000000,000.0000000,000.0,000,00.0,V,0#`, device: ID, none: 'no place' },
        {
          frame: `$1,AP9,${ID},${TIME},52315000N,013246000W,036.0,270,0550,11,0,1,26,V,0000,1,AB#`,
          device: ID,
          fixes: [{ ...FIX, valid: false, altitude: 550, satellites: 11, said: { ignition: true } }],
        },
        { frame: '$2,x#' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the device is its IMEI: the name in front of it may be the same in all trackers of a fleet',
      frames: Object.keys(IMEIS),
      says: (vector) => {
        const deviceId = IMEIS[vector.id]
        return { deviceId, ...eachPosition(() => ({ deviceId }))(vector) }
      },
    },
    {
      reason: 'a field that is 1 in each report of a vehicle that drives is taken for its main power, not for charging',
      says: eachSaid((each) => ({ ...each, charging: undefined })),
    },
  ],
} satisfies ProtocolCases
