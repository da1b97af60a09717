import { mph } from '../../protocols/kit/index.ts'
import { eachSaid, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = {
  time: '2026-11-20T11:42:49Z',
  latitude: 52.52,
  longitude: -13.41,
  altitude: 34.5,
  speed: mph(20),
  heading: 270,
  satellites: 9,
  hdop: 0.8,
  said: { ignition: false, external_voltage: 13.2 },
}

export default {
  costly: { commas: `@${ID}${many(',')}!`, 'one number': `@${ID},1,M,1,1,1,0,0,26/11/20,11:42:49,${many('1')}!` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `@${ID},705,UPV-02,1,13.2,17,0,0,26/11/20,11:42:49,52.52,-13.41,34.5,20.0,270,9,0.8,0.000,0!`,
          device: ID,
          fixes: [FIX],
        },
        {
          frame: `@${ID},601,M2MGTW,0,13.2,10,0,0,26/11/20,11:42:49,52.52,-13.41,34.5,20.0,270,9,0.8,20!`,
          device: ID,
          fixes: [{ ...FIX, valid: false }],
        },
        {
          frame: `@${ID},601,M2MGTW,1,13.2,10,0,0,26/11/20,11:42:49,52.52,-13.41,34.5,20.0,270,9!`,
          device: ID,
          fixes: [{ ...FIX, hdop: undefined }],
        },
        {
          frame: `@${ID},702,M2MGTW,1,14.7,30,0,1,26/11/20,11:42:49,52.52,-13.41,34.5,20.0,270,9,0.8,25!`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true, external_voltage: 14.7 } }],
        },
        { frame: `@${ID},OK!`, device: ID },
      ],
    },
    {
      title: 'a year of four digits over UDP',
      transport: 'udp',
      frames: [
        {
          frame: `@${ID},551,FGT,1,13.2,23,1,0,2026/11/20,11:42:49,52.52,-13.41,34.5,20.0,270,9,0.8,104.25!`,
          device: ID,
          fixes: [FIX],
        },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the battery of 12.5 to 14.7 V that it speaks of is that of the vehicle, not its own',
      says: eachSaid(({ ignition, batteryV }) => ({ ignition, powerV: batteryV })),
    },
  ],
} satisfies ProtocolCases
