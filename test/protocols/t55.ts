import { kmh, knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'
import { eachSaid } from '../support/vectors/corrections.ts'

const ID = '356307042441013'
const RMC = 'GPRMC,101530.000,A,5231.5000,N,01324.6000,E,12.50,270.0,010524,,,A'
const GGA = 'GPGGA,101530.000,5231.5000,N,01324.6000,E,1,07,0.9,34.5,M,45.0,M,,'
const PLACE = { latitude: 52.525, longitude: 13.41 }
const FIX = { ...PLACE, time: '2024-05-01T10:15:30Z', speed: knots(12.5), heading: 270 }
const TODAY = { ...PLACE, time: '2026-11-20T10:15:30Z', altitude: 34.5, hdop: 0.9, satellites: 7 }
const OK = 'OK1\r\n'

export default {
  costly: {
    'digits without an end': many('1'),
    'empty fields': `$GPRMC${many(',')}`,
    stars: `$${RMC}${many('*')}`,
    'blanks in front of a number': `$GPGLL,${many(' ')}`,
  },
  frames: [
    {
      title: 'sentences of other systems and talkers',
      frames: [
        { frame: `IMEI ${ID}\r\n`, device: ID, none: 'login' },
        { frame: sentence(`IMEI,${ID}`), device: ID, none: 'login' },
        { frame: `$GPSTN,${ID}\r\n`, device: ID, none: 'login' },
        { frame: sentence(`GPSTN,${ID},van,2`), device: ID, none: 'login' },
        { frame: `&&ID1111${sentence(RMC)}`, device: 'ID1111', fixes: [FIX], reply: OK },
        { frame: `&&ID1111${sentence(GGA)}`, device: 'ID1111', fixes: [TODAY] },
        {
          frame: `unit-7${sentence(RMC.replace('GP', 'BD').replace('N', 'S'))}`,
          device: 'unit-7',
          fixes: [{ ...FIX, latitude: -52.525 }],
          reply: OK,
        },
        {
          frame: sentence('GNGNS,101530.00,5231.5000,N,01324.6000,E,AAN,07,0.9,34.5,45.0,,'),
          fixes: [TODAY],
        },
        {
          frame: sentence('GPIOP,01000000,00000000,0.00,0.00,0.00,0.00,4.69,4.24'),
          none: 'status',
          said: { external_voltage: 4.69, battery_voltage: 4.24 },
        },
        { frame: sentence('GPGSV,3,1,11,03,03,111,00'), none: 'status' },
      ],
    },
    {
      title: 'a name, then sentences',
      frames: [
        { frame: 'No#200\r\n', none: 'status' },
        { frame: `$PGID,${ID}*07\r\n`, device: ID, none: 'login' },
        { frame: sentence(RMC), isTypical: true, fixes: [FIX], reply: OK },
        { frame: sentence(GGA), fixes: [TODAY] },
        { frame: `$${RMC}\r\n`, fixes: [FIX], reply: OK },
        { frame: `$${RMC}*00\r\n`, error: 'checksum' },
        { frame: sentence('GPXYZ,1,1,00') },
      ],
    },
    {
      title: 'a sentence in front of the name is kept for it',
      frames: [
        { frame: sentence(RMC), none: 'no device yet' },
        { frame: `IMEI ${ID}\r\n`, device: ID, fixes: [FIX] },
        { frame: `IMEI ${ID}\r\n`, device: ID, none: 'login' },
      ],
    },
    {
      title: 'sentences with the name in them',
      frames: [
        { frame: `${ID}${sentence(GGA)}`, device: ID, fixes: [TODAY] },
        { frame: `${ID},${sentence(RMC)}`, device: ID, fixes: [FIX], reply: OK },
        { frame: `4711/${ID}/${sentence(RMC)}`, device: ID, fixes: [FIX], reply: OK },
        {
          frame: `${sentence(`${RMC},D`).trimEnd()},11,${ID},1,090\n`,
          device: ID,
          fixes: [{ ...FIX, satellites: 11, said: { ignition: true } }],
          reply: OK,
        },
        {
          frame: `${sentence(`${RMC},D`).trimEnd()},11,${ID},1,090,086,123\n`,
          device: ID,
          fixes: [{ ...FIX, satellites: 11, said: { ignition: true, battery_percent: 86 } }],
          reply: OK,
        },
        {
          frame: sentence('TRCCR,20240501101530.000,A,52.525,13.41,12.5,270,34.5,50,'),
          fixes: [{ ...FIX, altitude: 34.5, said: { battery_percent: 50 } }],
        },
        {
          frame: `$PUBX,00,101530.00,5231.5000,N,01324.6000,E,34.5,NF,4.1,5.2,36,270,0,,0.9,1.2,0.8,7,${ID},0\n`,
          device: ID,
          fixes: [{ ...TODAY, valid: false, speed: kmh(36), heading: 270, accuracy: 4.1 }],
        },
        {
          frame: `QZE,${ID},35,01052024,101530,52.525,13.41,12.5,270,A,0\n`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: false } }],
        },
      ],
    },
  ],
  corrections: [
    {
      reason: '86 and 50 are the charge in percent: no battery has as many volts',
      frames: ['t55-016', 't55-019', 't55-032'],
      says: eachSaid(({ batteryV, ...rest }) => ({ ...rest, batteryPercent: batteryV })),
    },
  ],
} satisfies ProtocolCases

function sentence(text: string): string {
  const sum = Buffer.from(text).reduce((all, byte) => all ^ byte, 0)
  return `$${text}*${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`
}
