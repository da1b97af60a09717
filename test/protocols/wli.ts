import { escaped } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const { wrap } = escaped({
  flag: 0x02,
  end: 0x03,
  escape: 0xdb,
  codes: new Map([
    [0xd2, 0x02],
    [0xd3, 0x03],
  ]),
})
const LONGITUDE = Buffer.alloc(4)
LONGITUDE.writeInt32BE(-13.41 * 600_000)
const report = (content: Buffer) => wrap(Buffer.concat([bytes('31 0002 01 bba758c9 00'), bytes('01 00 3400'), content]))
const position = (fix: string) =>
  Buffer.concat([
    bytes(`34 00 ff 001c ${fix} 14 1805010a0f1e`),
    u(4, 52.525 * 600_000),
    LONGITUDE,
    bytes('0000 0a8c 00000000 0000 0155 00 4500 303200'),
  ])
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, altitude: 34.1, heading: 270 }

export default {
  costly: {
    'values without content': report(Buffer.alloc(COSTLY_SIZE - 100, 0x41)),
    escapes: Buffer.alloc(COSTLY_SIZE, 0xdb),
  },
  frames: [
    {
      title: 'a login, and reports with and without a position',
      frames: [
        { frame: wrap(Buffer.from('2wli:049030000001')), device: '049030000001', none: 'login' },
        { frame: report(position('03')), fixes: [FIX] },
        { frame: report(position('00')), fixes: [{ ...FIX, valid: false }] },
        {
          frame: report(Buffer.concat([position('03'), bytes('f600'), Buffer.from('3,8,1387,362\0')])),
          fixes: [{ ...FIX, said: { external_voltage: 13.87, battery_voltage: 3.62 } }],
        },
        {
          frame: report(Buffer.concat([bytes('f600'), Buffer.from('1,0,,412,0\0')])),
          none: 'status',
          said: { battery_voltage: 4.12 },
        },
        { frame: report(bytes('05 00 ff 0002 0102 00')), none: 'status' },
        { frame: wrap(bytes('33 00')) },
      ],
    },
  ],
} satisfies ProtocolCases
