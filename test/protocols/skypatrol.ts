import { knots } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'
import { eachSaid } from '../support/vectors/corrections.ts'

const BINARY = Buffer.concat([
  bytes('0005 0210 04 ffffffff 0000000d'),
  Buffer.from('11477000'),
  bytes('00000000000000 010518 01'),
  u(4, 52_315_000),
  Buffer.from([0xff, 0xff, 0xff, 0xff]),
  bytes('007d 0a8c 0a0f1e 000022 08 00'),
])
BINARY.writeInt32BE(52_315_000, 32)
BINARY.writeInt32BE(-13_246_000, 36)
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 }
const RMC = '$GPRMC,101530.00,A,5231.5000,N,01324.6000,W,12.5,270.0,010524,2.8,W,A'

export default {
  costly: { digits: `\x00\x04\x02\x00${many('1').slice(4)}`, sentence: `\x00\x04\x02\x00$GPRMC${many(',').slice(10)}` },
  frames: [
    {
      title: 'all fields, a sentence, another mask and other kinds',
      frames: [
        { frame: BINARY, device: '11477000', fixes: [{ ...FIX, altitude: 34, satellites: 8 }] },
        {
          frame: Buffer.concat([BINARY.subarray(0, -1), bytes(`${'00'.repeat(16)} 1059 0005`)]),
          device: '11477000',
          fixes: [{ ...FIX, altitude: 34, satellites: 8, said: { battery_voltage: 4.185 } }],
        },
        {
          // Without the event, the inputs, the course, the altitude and the satellites.
          frame: Buffer.concat([
            bytes('0005 0210 04 08005f04'),
            Buffer.from('11477000'),
            bytes('010518 01'),
            BINARY.subarray(32, 40),
            bytes('007d 0a0f1e'),
          ]),
          device: '11477000',
          fixes: [{ ...FIX, heading: undefined }],
        },
        {
          frame: `\x00\x04\x02\x00         8       011722000000178 12 ${RMC}\r\n\0`,
          device: '011722000000178',
          fixes: [FIX],
        },
        {
          frame: `\x00\x04\x02\x10\x00        10      860000000345733  459   0  14 14 ${RMC.slice(1)}*0A  91 12233 0032`,
          device: '860000000345733',
          fixes: [FIX],
        },
        { frame: bytes('0005 0210 04 00000114 00000000'), fixes: [] },
        { frame: bytes('0005 0200 00 00000000') },
        { frame: bytes('000a 0217 1101') },
        { frame: bytes('4040 0217 1101'), error: 'unsupported' },
      ],
    },
  ],
  corrections: [
    {
      reason: '4.185 V are those of the own battery; no battery has 50 V',
      frames: ['skypatrol-002'],
      says: eachSaid(({ powerV }) => ({ batteryV: powerV })),
    },
    {
      reason: 'the message has an RMC sentence: text of 2017',
      frames: ['skypatrol-001'],
      says: {
        deviceId: '011722001357983',
        positions: [
          {
            time: '2017-07-06T14:09:17.000Z',
            valid: true,
            lat: -33.036685,
            lon: -71.597973,
            altitude: 0,
            speedKnots: 0,
            course: 0,
          },
        ],
      },
    },
    {
      reason: 'the message has an RMC sentence behind the id of the unit',
      frames: ['skypatrol-005'],
      says: {
        deviceId: '011722001185178',
        positions: [
          {
            time: '2014-07-19T22:48:39.000Z',
            valid: true,
            lat: 3.47398,
            lon: -76.526795,
            altitude: 0,
            speedKnots: 0,
            course: 0,
          },
        ],
      },
    },
  ],
} satisfies ProtocolCases
