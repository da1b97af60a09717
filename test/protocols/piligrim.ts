import { knots } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, many, type ProtocolCases, post, eachSaid } from '../support/protocol-cases.ts'

const IMEI = '868204000000017'
const binary = (body: Buffer) => post(`/bingps?imei=${IMEI}&csq=18`, body)
/** 1 May 2024, 52° 31.5000′, 13° 24.6000′. */
const record = (satellites: string) => bytes(`fff218 01e5 0a0f1e 341f3200 0d183c00 00${satellites} 000000000000`)
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: 13.41, satellites: 8 }
const RMC = '$GPRMC,101530.000,A,5231.5000,N,01324.6000,W,12.5,270,010524,,,A,V* 29,05'

export default {
  costly: {
    'records without content': binary(
      Buffer.from(
        bytes('fff203')
          .toString('hex')
          .repeat(COSTLY_SIZE / 3),
        'hex',
      ),
    ),
    parameters: post('/push.do', many('a=1&')),
  },
  frames: [
    {
      title: 'records, a text with a sentence, and without',
      frames: [
        {
          frame: binary(Buffer.concat([record('08'), record('00')])),
          device: IMEI,
          fixes: [FIX, { ...FIX, satellites: 0, valid: false }],
          response: { body: 'BINGPS: OK' },
        },
        {
          frame: binary(bytes('fff220 01e5 0a0f1e 341f3200 0d183c00 0008 0005173b0000 a101 000300005e00')),
          device: IMEI,
          fixes: [{ ...FIX, said: { battery_voltage: 4.17 } }],
          response: { body: 'BINGPS: OK' },
        },
        { frame: binary(Buffer.alloc(0)), device: IMEI, none: 'no place', response: { body: 'BINGPS: OK' } },
        {
          frame: post('/push.do', `&phoneNumber=%2B7800&message=ALARM; ${RMC}; GSM: 250-01`),
          device: '7800',
          fixes: [{ ...FIX, longitude: -13.41, satellites: undefined, speed: knots(12.5), heading: 270 }],
          response: { body: 'PUSH.DO: OK' },
        },
        {
          frame: post('/push.do', 'phoneNumber=7800&message=ALARM'),
          device: '7800',
          none: 'no place',
          response: { body: 'PUSH.DO: OK' },
        },
        {
          frame: binary(bytes('fff204 01')),
          error: 'truncated',
          envelope: { device: IMEI, response: { body: 'BINGPS: OK' } },
        },
        { frame: post('/', ''), error: 'unsupported' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the battery has 4.17 V: the peer reads it a byte off',
      frames: ['piligrim-000'],
      says: eachSaid(() => ({ batteryV: 4.17 })),
    },
  ],
  exceptions: {
    'piligrim-000': 'the second record is a fix too; where the heading of 10.23 degrees stands is not known',
  },
} satisfies ProtocolCases
