import { kmh, knots, mph } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { eachSaid, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '8021234567'
/** 52° 31.5′ N, 13° 24.6′ E, 10 kn, 270°. */
const place = (flags: string) => `010524231530 52315000 013246000${flags} 0a 87`
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: knots(10), heading: 270 }
const record = (flags: string, rest = '00'.repeat(10)) => place(flags) + rest
const padlock = (version: string, status: string, charge = '55') =>
  bytes(`24 ${ID} ${version} 11 0027 ${place('7')} 00001234 09 00000000 ${status} ${charge} ${'00'.repeat(9)} 6e`)
const LOCKED = { ...FIX, satellites: 9, said: { battery_percent: 85 } }

const TEXT = '010524,231530,T,52.525,N,13.410,E'

export default {
  costly: {
    'many records': bytes(`24 ${ID} 31 fffc ${record('7').repeat(2427)} 01`),
    'one field': `(${ID},U01,${many('1')})`,
    'empty fields': `(${ID},U01${many(',')})`,
    'escapes of a sensor': Buffer.from(`(${ID},1,168,WLNET,5,2,${many('=\x15')})`),
  },
  frames: [
    {
      title: 'fields that are missing',
      frames: [
        {
          frame: `(${ID},P45,010524,231530,52.525,S,13.410,W,V,10,270)`,
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41, speed: mph(10), valid: false }],
        },
        {
          frame: `(${ID},U02,${TEXT},,,,32%)`,
          device: ID,
          fixes: [{ ...FIX, speed: undefined, heading: undefined, said: { battery_percent: 32 } }],
          reply: '(S39)',
        },
      ],
    },
    {
      title: 'packed decimals: several positions, the first version, padlocks',
      frames: [
        {
          frame: bytes(`24 ${ID} 31 0036 ${record('7')} ${record('8')} 01`),
          isTypical: true,
          device: ID,
          fixes: [FIX, { ...FIX, latitude: -52.525, longitude: -13.41, valid: false }],
        },
        {
          frame: bytes(`24 ${ID} 11 001b ${record('7', '09 5080 0022 0000000000')} 01`),
          device: ID,
          fixes: [{ ...FIX, satellites: 9, altitude: 34, said: { battery_percent: 80 } }],
        },
        {
          frame: bytes(`24 ${ID} 11 001b ${record('7', '09 5080 fff4 0000000000')} 01`),
          device: ID,
          fixes: [{ ...FIX, satellites: 9, altitude: -12, said: { battery_percent: 80 } }],
        },
        { frame: padlock('17', '20c0'), device: ID, fixes: [LOCKED] },
        { frame: padlock('17', '20e0'), device: ID, fixes: [LOCKED], reply: '(P35)' },
        { frame: padlock('19', '20e0'), device: ID, fixes: [LOCKED], reply: '(P69,0,110)' },
        {
          frame: bytes(padlock('17', '20e0').toString('hex').replace('010524', '310224')),
          error: 'malformed',
          envelope: { device: ID, reply: '(P35)' },
        },
        {
          frame: bytes(`24 ${ID} 17 11 001d ${place('7')} 00001234 09 00000000 20e0 6e`),
          device: ID,
          fixes: [{ ...LOCKED, said: undefined }],
          reply: '(P35)',
        },
        {
          frame: padlock('17', '28d8', 'ff'),
          device: ID,
          fixes: [{ ...LOCKED, said: { charging: true, alarms: ['tampering', 'vibration', 'low_battery'] } }],
        },
        {
          frame: bytes(`24 ${ID} 31 0036 ${record('7')} ${record('7').replace('0105', 'ff05')} 01`),
          device: ID,
          fixes: [FIX],
          unreadable: [1],
        },
        { frame: bytes(`24 ${ID} 31 001a ${'00'.repeat(27)}`), error: 'malformed', envelope: { device: ID } },
      ],
    },
    {
      title: 'text',
      frames: [
        {
          frame: `(${ID},W01,01324.6000,E,5231.5000,N,A,010524,231530,36,270,100,4)`,
          device: ID,
          fixes: [{ ...FIX, speed: kmh(36), said: { battery_percent: 100 } }],
        },
        {
          frame: `(${ID},U01,${TEXT},10,270,9,32%,00000000000011,10133)`,
          device: ID,
          fixes: [{ ...FIX, speed: mph(10), satellites: 9, said: { battery_percent: 32 } }],
          reply: '(S39)',
        },
        {
          frame: `(${ID},U03,${TEXT},10,270,32%,00000000000011,10133)`,
          device: ID,
          fixes: [{ ...FIX, speed: mph(10), said: { battery_percent: 32 } }],
          reply: '(S39)',
        },
        {
          frame: `(${ID},U06,4,${TEXT.replace('T', 'F')},10,270,9,32%,00000000000011,10133)`,
          device: ID,
          fixes: [{ ...FIX, speed: mph(10), satellites: 9, valid: false, said: { battery_percent: 32 } }],
          reply: '(S20)',
        },
        {
          frame: `(${ID},P45,010524,231530,52.525,N,13.410,E,A,10,270,5,0,0012260888,0,0,77,0)`,
          device: ID,
          fixes: [{ ...FIX, speed: mph(10), said: { driver: '0012260888' } }],
          reply: '(P69,0,77)',
        },
        {
          frame: Buffer.concat([
            Buffer.from(`(${ID},1,168,WLNET,5,2,`),
            bytes(`${place('7')} 3d15 3d14 3d11 3d00`),
            Buffer.from(')'),
          ]),
          device: ID,
          fixes: [FIX],
        },
        { frame: `(${ID},U04)`, device: ID, none: 'heartbeat' },
        { frame: `(${ID},@JT)`, device: ID, none: 'heartbeat' },
        { frame: `(${ID},2,U09,129,2,A,010524231530)`, device: ID, none: 'trip' },
        {
          frame: `(${ID},1,001,BASE,2,TIME)`,
          device: ID,
          none: 'time',
          reply: `(${ID},1,001,BASE,2,20261120120000)`,
        },
        {
          frame: `(${ID},U01,${TEXT.replace('0105', '3113')},10,270)`,
          error: 'malformed',
          envelope: { device: ID, reply: '(S39)' },
        },
        { frame: `(${ID},Z99,1)`, device: ID },
        {
          frame: `(${ID},1,U10,77,${TEXT.replace('N', 'S').replace('E', 'W')},10,270)`,
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41, speed: mph(10) }],
        },
        { frame: '(BP05,1)', error: 'malformed' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'JT701 V3.6: the speed is a number of one byte; its digits above 9 show that it is not packed decimals',
      says: ({ input: { hex = '' }, positions }) => {
        const packet = bytes(hex)
        const first = packet[0] === 0x24 ? (packet[7] >= 0x10 ? 10 : 9) : packet.indexOf(',WLNET,5,') + 11
        if (packet[0] !== 0x24 && first < 11) return undefined
        return { positions: positions.map((each, i) => ({ ...each, speedKnots: packet[first + 27 * i + 15] })) }
      },
    },
    {
      reason: 'JT600 V1.8: the charge of its battery, %: 80 and 100 are no voltages',
      frames: ['jt600-030', 'jt600-031', 'jt600-034', 'jt600-035'],
      says: eachSaid(({ powerV, ...rest }) => ({ ...rest, batteryPercent: powerV })),
    },
    {
      reason: 'these bits of version 2 have another meaning: with its antenna cut it would not measure where it drives',
      frames: ['jt600-015', 'jt600-016'],
      says: eachSaid(() => ({})),
    },
  ],
} satisfies ProtocolCases
