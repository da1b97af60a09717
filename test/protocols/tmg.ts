import { kmh } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const PLACE = '20112026,171418,1,5231.5000,N,01324.6000,W,36.0,270'
const FIX = { time: '2026-11-20T17:14:18Z', latitude: 52.525, longitude: -13.41, speed: kmh(36), heading: 270 }

export default {
  costly: { commas: `$nor,L,${ID}${many(',')}\n`, 'one number': `$nor,L,${ID},20112026,171418,1,${many('1')}\n` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `$nor,L,${ID},${PLACE},34.5,0.97,9,22,IDEA,18,DCDE,0,4.09,01.02,#`,
          device: ID,
          fixes: [
            {
              ...FIX,
              altitude: 34.5,
              hdop: 0.97,
              satellites: 9,
              said: { ignition: false, battery_voltage: 4.09, external_voltage: 1.02 },
            },
          ],
        },
        {
          frame: `$loc,${ID},${PLACE.replace('1,52', '0,52')},54241,22,9,100,0,HHLL,VER00.1a\n`,
          device: ID,
          fixes: [{ ...FIX, satellites: 9, valid: false, said: { ignition: false } }],
        },
        {
          frame: `$ebl,H,${ID},${PLACE},34.5,0.97,9,21,VODAFONE - DELH,25,3220,1,4.11,00.0,00000111,#`,
          device: ID,
          fixes: [
            {
              ...FIX,
              altitude: 34.5,
              hdop: 0.97,
              satellites: 9,
              said: { ignition: true, battery_voltage: 4.11, external_voltage: 0, alarms: ['low_power'] },
            },
          ],
        },
        { frame: `$nor,L,${ID},x\n`, device: ID },
        { frame: '$XYZ\n' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the altitude stands in front of the HDOP, which the peer leaves out',
      says: eachPosition(({ altitude }) => (altitude === 0 ? { altitude: undefined } : {})),
    },
  ],
} satisfies ProtocolCases
