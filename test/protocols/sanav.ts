import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const RMC = '$GPRMC,015258.000,A,5231.5000,N,01324.6000,W,12.5,270,201126,,*18'
const FIX = { time: '2026-11-20T01:52:58Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 }

export default {
  costly: { commas: `imei=${ID}&rmc=$GPRMC${many(',')}`, digits: `imei:${many('1')}` },
  frames: [
    { title: 'positions', frames: [{ frame: `imei=${ID}&rmc=${RMC},AUTO,0300`, device: ID, fixes: [FIX] }] },
    {
      title: 'positions of another firmware',
      frames: [
        {
          frame: `imei:${ID}rmc:${RMC},AUTO-4103mv`,
          device: ID,
          fixes: [{ ...FIX, said: { battery_voltage: 4.103 } }],
        },
      ],
    },
    {
      title: 'a position with the charge of the battery',
      frames: [
        {
          frame: `imei=${ID}&rmc=${RMC},STOP,V3.872;67%,S4,H8.3`,
          device: ID,
          fixes: [{ ...FIX, said: { battery_voltage: 3.872, battery_percent: 67 } }],
        },
      ],
    },
    {
      title: 'positions as the manuals write them',
      frames: [
        {
          frame: `IMEI=${ID}&rmc=${RMC},A*67,AUTO,3912,79`,
          device: ID,
          fixes: [{ ...FIX, said: { battery_voltage: 3.912, battery_percent: 79 } }],
        },
        {
          frame: `IMEI=${ID}&rmc=${RMC},BSOS,3.934V,3.793;56% (LP)`,
          device: ID,
          fixes: [{ ...FIX, said: { battery_voltage: 3.793, battery_percent: 56, alarms: ['sos', 'low_battery'] } }],
        },
        { frame: `imei=${ID}&RMC=${RMC},POLL`, device: ID, fixes: [FIX] },
        { frame: `imei=${ID}&RMC=${RMC.slice(1)},PARK`, device: ID, fixes: [FIX] },
      ],
    },
    { title: 'another sentence', frames: [{ frame: `imei:${ID}rmc:$GPGGA,1`, device: ID, fixes: [] }] },
    { title: 'another request', frames: [{ frame: `imei=${ID}&x=1`, device: ID }] },
  ],
} satisfies ProtocolCases
