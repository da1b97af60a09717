import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = { time: '2026-11-20T12:34:56Z', latitude: 52.52, longitude: -13.41, speed: knots(12.5), heading: 34 }
const PLACE = '52.52|-13.41|123456|201126'

export default {
  costly: { bars: `^TMPER|${ID}${many('|')}#`, 'one number': `^TMPER|${ID}|1|${many('1')}#` },
  frames: [
    {
      title: 'positions',
      frames: [
        { frame: `^TMPER|${ID}|1|${PLACE}|12.5|34.0|1|0|0|0.015|#`, device: ID, fixes: [FIX] },
        {
          frame: `^TMSTP|${ID}|116|${PLACE}|12.5|34.0|7|0|71 -2 248|#`,
          device: ID,
          fixes: [{ ...FIX, satellites: 7, valid: false }],
        },
        {
          frame: `^TMPER|${ID}|1|${PLACE}|12.5|34.0|1|0|0|0.015|3.9|12.0|23.4|23.4|1|1|0|#`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true, external_voltage: 12, battery_voltage: 3.9 } }],
        },
        {
          frame: `^TMSTP|${ID}|116|${PLACE}|12.5|34.0|7|1|71 -2 248|0|13.1|0.0|10.5|1|0|0|0|#`,
          device: ID,
          fixes: [{ ...FIX, satellites: 7, said: { external_voltage: 13.1 } }],
        },
        { frame: `^TMALT|${ID}|3|2|1|${PLACE}|12.5|34.0|#`, device: ID, fixes: [{ ...FIX, valid: false }] },
        {
          frame: `^TMSRT|${ID}|${PLACE}|1.03|1.01|#`,
          device: ID,
          fixes: [{ time: FIX.time, latitude: 52.52, longitude: -13.41, valid: false }],
        },
        { frame: `^TMXXX|${ID}|#`, device: ID },
        { frame: '^TMXXX#' },
      ],
    },
  ],
} satisfies ProtocolCases
