import { crc16Xmodem, knots } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const PLACE = '115348.000,A,5231.5000,N,01324.6000,W,12.5,270,201126'
const FIX = { time: '2026-11-20T11:53:48Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 }

const COUNTED = Buffer.from(`201126115348,+4930123,GPRMC,${PLACE},,,A*5D,F,,imei:${ID},117`)
const counted = (line: Buffer) => {
  const sum = Buffer.alloc(2)
  sum.writeUInt16LE(crc16Xmodem(line))
  return Buffer.concat([line, sum])
}
/** One whose CRC begins with a line feed. */
const LINE_FEED = Array.from({ length: 10_000 }, (_, n) =>
  counted(Buffer.from(COUNTED.toString().replace('4930123', `493${String(n).padStart(4, '0')}`))),
).find((line) => line[COUNTED.length] === 0x0a)!

export default {
  costly: { commas: `GPRMC${many(',')}imei:${ID},\n`, 'one number': `GPRMC,115348,A,${many('1')}imei:${ID},\n` },
  frames: [
    {
      title: 'lines that end with a binary CRC',
      frames: [
        { frame: counted(COUNTED), device: ID, fixes: [FIX] },
        { frame: LINE_FEED, device: ID, fixes: [FIX] },
        { frame: Buffer.concat([COUNTED, Buffer.from('5fab', 'hex')]), device: ID, fixes: [FIX] },
      ],
    },
    {
      title: 'positions of each firmware',
      frames: [
        { frame: `GPRMC,${PLACE},00,0000.0,A*55,L,,imei:${ID},\r\n`, device: ID, fixes: [FIX] },
        {
          frame: `201126115348,+4930123,GPRMC,${PLACE},,,A*5D,F,help me!, imei:${ID},05,-8.2,F:4.22V,1,141,44712,510,10,2BE5,EC47\r\n`,
          device: ID,
          fixes: [
            {
              ...FIX,
              satellites: 5,
              altitude: -8.2,
              said: { battery_voltage: 4.22, charging: true, alarms: ['sos'] },
            },
          ],
        },
        {
          frame: `201126115348,,GPRMC,${PLACE},,,A*5D,F,ACCStop, imei:${ID},05,-8.2,L:3.69V/ADC1=0.76V,0,141\r\n`,
          device: ID,
          fixes: [
            {
              ...FIX,
              satellites: 5,
              altitude: -8.2,
              said: { ignition: false, battery_voltage: 3.69, charging: false },
            },
          ],
        },
        {
          frame: `GPRMC,${PLACE},,,A*5D,F,ACC On, imei:${ID}\r\n`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true } }],
        },
        {
          frame: `GPRMC,${PLACE},,,A*5D,L,low battery!,imei:${ID}\r\n`,
          device: ID,
          fixes: [{ ...FIX, said: { alarms: ['low_battery'] } }],
        },
        {
          frame: `GPRMC,.000,A,0.000000,S,0.0000,W,0.00,0.00,,00,0000.0,A*55,L,,imei:${ID},\r\n`,
          device: ID,
          none: 'no date',
        },
        {
          frame: `7,201126115348,,GPRMC,${PLACE.replace('N', 'S')},,,A*5D,L,,imei:${ID}12,05,-8.2,F:4.22V\r\n`,
          device: `${ID}12`,
          fixes: [{ ...FIX, latitude: -52.525, satellites: 5, altitude: -8.2, said: { battery_voltage: 4.22 } }],
        },
        {
          frame: `201126115348,+4930123,GPRMC,${PLACE},,,A*5D,F,help me!,imei:${ID},129,40512\r\n`,
          device: ID,
          fixes: [{ ...FIX, said: { alarms: ['sos'] } }],
        },
        {
          frame: `201126115348,+4930123,GPRMC,${PLACE},,,A*5D,F,helpme,imei:${ID},132,40512\r\n`,
          device: ID,
          fixes: [{ ...FIX, said: { alarms: ['sos'] } }],
        },
        { frame: `GPGSV,1,imei:${ID},\r\n`, device: ID },
      ],
    },
  ],
  corrections: [
    {
      reason: 'F:4.22V is the voltage of the own battery, which feeds the tracker',
      says: eachPosition(({ said }) =>
        said?.powerV ? { said: { ...said, powerV: undefined, batteryV: said.powerV } } : {},
      ),
    },
    {
      reason: 'a clock that was never set, which has no date, gives no time',
      says: ({ positions }) => ({ positions: positions.filter(({ time }) => !time?.startsWith('1999-11-30')) }),
    },
  ],
  streams: {
    '313531303132313435392c2b3331363532343534': 'no line feed ends it: satellites and altitude may still come',
    '3135303631353132333733312c2b333336343733':
      'the parts in front of and behind the sentence, which the peer drops, belong to the frame',
  },
} satisfies ProtocolCases
