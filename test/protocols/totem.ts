import { crc16Modbus, kmh, knots, TextWriter } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const TIME = '2026-11-20T15:00:10Z'
const PLACE = '27004000.900000325231.5000N01324.6000W0042'
const FIX = {
  time: TIME,
  latitude: 52.525,
  longitude: -13.41,
  speed: kmh(40),
  heading: 270,
  hdop: 0.9,
}
/** What the status 08044000 says. */
const OFF = { ignition: false, charging: false }
const FED = { ignition: false, charging: true, battery_voltage: 4, external_voltage: 11 }
const PARKED = { ...FIX, said: OFF }
const reply = sealed('$$0014AA0042')

export default {
  costly: {
    digits: `$$9999AA${many('1')}`,
    'a line without an end': `$$B2${ID}|AA$GPRMC,${many(',')}\r\n`,
  },
  frames: [
    {
      title: 'positions of newer devices',
      frames: [
        {
          frame: frame(`AA${ID}|5004C000261120150010421405982FA058AE0910${PLACE}`),
          device: ID,
          fixes: [
            {
              ...FIX,
              satellites: 9,
              said: { ignition: true, charging: true, battery_voltage: 4.2, external_voltage: 14 },
            },
          ],
          reply,
        },
        {
          frame: frame(`01${ID}|9004C000261120150010421405982FA058AE0910${PLACE}`),
          device: ID,
          fixes: [
            { ...FIX, satellites: 9, said: { ...FED, battery_voltage: 4.2, external_voltage: 14, alarms: ['sos'] } },
          ],
          reply,
        },
        {
          frame: frame(`AA${ID}|1800180026112015001040110000000000002FA058AE0910${PLACE}`),
          device: ID,
          fixes: [{ ...FIX, satellites: 9, said: FED }],
          reply,
        },
        {
          frame: frame(`AA${ID}|180018002611201500104011${'0'.repeat(16)}2FA058AE0910${PLACE.replace('N', 'S')}`),
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, satellites: 9, said: FED }],
          reply,
        },
        {
          frame: frame(`10${ID}|1A0000002611201500104011${'0'.repeat(24)}2FA058AE0910${PLACE}`),
          device: ID,
          fixes: [
            { ...FIX, satellites: 9, valid: false, said: { ...FED, alarms: ['low_battery', 'gps_antenna_cut'] } },
          ],
          reply,
        },
        {
          frame: frame(`AA${ID}|0804400026112015001040400005B364ED50031${PLACE}`),
          device: ID,
          fixes: [{ ...FIX, said: { ...OFF, battery_voltage: 4.04 } }],
          reply,
        },
        ...['40401234', `4040${'0'.repeat(8)}05B3640ED5003105`, 'A'.repeat(48)].map((others) => ({
          frame: frame(`AC${ID}|08044000261120150010${others}${PLACE}`),
          device: ID,
          fixes: [PARKED],
          reply,
        })),
        {
          frame: frame(`AC${ID}|08040000261120150010404012345${PLACE}`),
          device: ID,
          fixes: [{ ...PARKED, valid: false }],
          reply,
        },
        {
          frame: frame(`E2${ID}|261120150010,-13.41,52.525,11223344|`),
          device: ID,
          fixes: [{ time: TIME, latitude: 52.525, longitude: -13.41, said: { driver: '11223344' } }],
          reply: sealed('$$0014AA344|'),
        },
      ],
    },
    {
      title: 'what else newer devices send',
      frames: [
        { frame: frame(`BB${ID}`), device: ID, none: 'heartbeat' },
        { frame: frame(`ZZ${ID}|10042`), device: ID, reply },
        { frame: frame(`ZZ${ID}|10042`).replace('1004', '1005'), error: 'checksum' },
      ],
    },
    {
      title: 'positions of older devices',
      frames: [
        {
          frame: old(
            `|AA$GPRMC,150010.000,A,5231.5000,N,01324.6000,W,12.50,270.00,201126,,,A*62|01.7|00.8|01.4|00|0042|`,
          ),
          device: ID,
          fixes: [{ ...FIX, speed: knots(12.5), hdop: 0.8 }],
          reply: 'ACK OK\r\n',
        },
        {
          frame: old(
            `|10$GPRMC,150010.000,A,5231.5000,N,01324.6000,W,12.50,,201126,,,A*62|01.7|00.8|01.4|110011110000|20261120150010|13671251|00000000|25337621|0000|0042|`,
          ),
          device: ID,
          fixes: [
            {
              ...FIX,
              heading: undefined,
              speed: knots(12.5),
              hdop: 0.8,
              said: { charging: true, battery_voltage: 3.67, external_voltage: 12.51, alarms: ['low_battery'] },
            },
          ],
          reply: 'ACK OK\r\n',
        },
        {
          frame: old(`|39201126150010800014201300${'0'.repeat(12)}19BD508A09${PLACE}`),
          device: ID,
          fixes: [{ ...FIX, satellites: 9, said: { charging: true, battery_voltage: 4.2, external_voltage: 13 } }],
          reply: 'ACK OK\r\n',
        },
        ...['08002014201300', '08000F4201300A'].map((others) => ({
          frame: old(`|39201126150010${others.padEnd(22, '0')}19BD508A0009${PLACE}`),
          device: ID,
          fixes: [{ ...FIX, satellites: 9 }],
          reply: 'ACK OK\r\n',
        })),
        {
          frame: old('|AA$GPRMC,000000.00,V,0000.0000,N,00000.0000,E,000.0,000.0,000000,,,A*73|00.0|00.0|00.0|0042|'),
          device: ID,
          none: 'no date',
          reply: 'ACK OK\r\n',
        },
        {
          frame: old(`|39201126150010${'0'.repeat(24)}19BD508A09${PLACE}`),
          device: ID,
          fixes: [{ ...FIX, satellites: 9, said: { charging: false, battery_voltage: 0, external_voltage: 0 } }],
          reply: 'ACK OK\r\n',
        },
        { frame: old(`|AA${'0'.repeat(60)}|00.0|00.0|00.0|0042|`), device: ID, none: 'no fix', reply: 'ACK OK\r\n' },
        {
          frame: old(
            '|AA201126150010|A|5231.5000|N|01324.6000|W|1.579|270|0.90|100000001000|13671251|0|19BD508A|0|0.0|0042|',
          ),
          device: ID,
          fixes: [
            {
              ...FIX,
              speed: knots(1.579),
              said: { charging: true, battery_voltage: 3.67, external_voltage: 12.51 },
            },
          ],
          reply: 'ACK OK\r\n',
        },
        {
          frame: old(
            '|01201126150010|V|5231.5000|S|01324.6000|E|0.000||0.90|100000001000|13671|0|19BD508A|0|0.0|0042|',
          ),
          device: ID,
          fixes: [
            {
              time: TIME,
              latitude: -52.525,
              longitude: 13.41,
              speed: 0,
              hdop: 0.9,
              valid: false,
              said: { alarms: ['sos'] },
            },
          ],
          reply: 'ACK OK\r\n',
        },
        {
          frame: old('|16201126150010|A|5231.5000|N|01324.6000|W|1.579|270|0.90|0|'),
          device: ID,
          fixes: [{ ...FIX, speed: knots(1.579), said: { alarms: ['gps_antenna_cut'] } }],
          reply: 'ACK OK\r\n',
        },
        { frame: old(`|77|0042|`), device: ID, reply: 'ACK OK\r\n' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'AVL02 user guide 1.5, §3: the voltage from outside is in 0.01 V, as that of the battery',
      says: eachPosition(({ said }, { id }) =>
        said?.powerV !== undefined && id >= 'totem-015' ? { said: { ...said, powerV: said.powerV / 100 } } : {},
      ),
    },
  ],
} satisfies ProtocolCases

function sealed(text: string): string {
  return new TextWriter().text(text).xor().toBuffer().toString('latin1')
}

function frame(rest: string): string {
  return sealed(`$$${String(rest.length + 8).padStart(4, '0')}${rest}`)
}

function old(rest: string): string {
  return `${new TextWriter().text(`$$B2${ID}${rest}`).crc16(crc16Modbus).toBuffer().toString('latin1')}\r\n`
}
