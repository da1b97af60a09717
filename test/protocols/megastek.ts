import { type Alarm, knots, sum8 } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const RMC = '$GPRMC,150010.000,A,5231.5000,N,01324.6000,W,12.50,270.00,201126,,,A*62'
const CHARGE = { battery_percent: 82 } as const
const FIX = { time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 }

const EVENTS: Readonly<Record<string, readonly Alarm[]>> = {
  SOS: ['sos'],
  'Low Bat': ['low_battery'],
  'PW OFF': ['power_off'],
}

export default {
  costly: {
    commas: `$MGV002${many(',')}!`,
    digits: `${many('1')}!`,
    'a number without an end': `STX,1,$GPRMC,150010.000,A,${many('5')}\r\n`,
  },
  frames: [
    {
      title: 'another model, an id that is no IMEI, no date',
      frames: [
        {
          frame: mgv('A,5231.50000,S,01324.60000,W,00,07,00,0.90,12.5,270.00,-34.5,')
            .replace('MGV002', 'MGV005')
            .replace(ID, 'VAN-7'),
          device: 'VAN-7',
          fixes: [{ ...FIX, latitude: -52.525, hdop: 0.9, satellites: 7, altitude: -34.5 }],
        },
        {
          frame: stx(`STX,${ID},${RMC.replace('GP', 'GN')},L,Help,imei:${ID},07,180.5,Battery=82%;`),
          device: ID,
          fixes: [{ ...FIX, satellites: 7, altitude: 180.5, said: { alarms: ['sos'] } }],
        },
        { frame: `$MGV002,${ID},,S,,,V,,,,,00,00,00,99.9,,,,,262,01,5D8,1922400;!`, device: ID, none: 'no place' },
      ],
    },
    {
      title: 'positions of MGV002, with and without a length',
      frames: [
        {
          frame: mgv('A,5231.50000,N,01324.60000,W,00,07,00,0.90,12.5,270.00,34.5,', '0123'),
          isTypical: true,
          device: ID,
          fixes: [{ ...FIX, hdop: 0.9, satellites: 7, altitude: 34.5 }],
        },
        {
          frame: mgv('V,5231.50000,N,01324.60000,W,00,00,00,99.9,,,,'),
          device: ID,
          fixes: [{ time: FIX.time, valid: false, latitude: 52.525, longitude: -13.41, hdop: 99.9, satellites: 0 }],
        },
        ...Object.entries({ '10,100,SOS;': true, '01,092,Low Bat,,0,,;': false, '1-0,15,PW OFF;': true }).map(
          ([behind, charging]) => ({
            frame: mgv(
              `A,5231.50000,N,01324.60000,W,00,07,00,0.90,12.5,270.00,34.5,,262,01,5D8,192240,20,0000,0000,0,,,,,,${behind}`,
            ).replace(/,262,01,5D8,1922400.*/, '!'),
            device: ID,
            fixes: [
              {
                ...FIX,
                hdop: 0.9,
                satellites: 7,
                altitude: 34.5,
                said: {
                  charging,
                  battery_percent: Number(behind.split(',')[1]),
                  alarms: EVENTS[behind.split(/[,;]/)[2]],
                },
              },
            ],
          }),
        ),
        { frame: mgv('V,,,,,00,00,00,99.9,0.000,0.00,,', '0099'), device: ID, none: 'no place' },
      ],
    },
    {
      title: 'positions of STX',
      frames: [
        {
          frame: stx(`STX,${ID},${RMC},L,Help,imei:${ID},07,180.5,Battery=82%,0,284,03,047E,2B5F;`),
          device: ID,
          fixes: [{ ...FIX, satellites: 7, altitude: 180.5, said: { ...CHARGE, charging: false, alarms: ['sos'] } }],
        },
        {
          frame: stx(`STX,name,${RMC},L,LowBattery,imei:${ID},0/8,,Battery=82%,,1,284,03,047E,2B5F;`),
          device: ID,
          fixes: [{ ...FIX, said: { ...CHARGE, charging: true, alarms: ['low_battery'] } }],
        },
        {
          frame: `STX42            \u0002O${RMC},460,00,2795,0E6A,14,94,1000,0000,91,SOS;00\r\n`,
          device: '42',
          fixes: [{ ...FIX, said: { battery_percent: 94, alarms: ['sos'] } }],
        },
        {
          frame: `LOGSTX,${ID},${RMC},F,,imei:${ID},0/6,,Battery=100%,,0,,,5856,78A3;24\r\n`,
          device: ID,
          fixes: [{ ...FIX, said: { battery_percent: 100, charging: false } }],
        },
        { frame: `STX,42,${RMC.slice(0, -3)}\r\n`, device: '42', fixes: [FIX] },
        { frame: `STX,42,${RMC},F;00\r\n`, error: 'checksum' },
      ],
    },
    {
      title: 'what holds no position',
      frames: [
        { frame: 'cmd=aid;user=a;pwd=b;lat=52.5;lon=13.4;pacc=1000\r\n', none: 'status' },
        { frame: `$MGV003,${ID},1!`, device: ID },
        { frame: 'STX,42,1;00\r\n', error: 'checksum' },
        { frame: 'LOGSTX,42,1;00\r\n' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the altitude stands where it does in the other lines',
      frames: ['megastek-026'],
      says: eachPosition(() => ({ altitude: 577, sat: 8 })),
    },
  ],
} satisfies ProtocolCases

function mgv(rest: string, length = ''): string {
  return `${length}$MGV002,${ID},name,R,201126,150010,${rest},262,01,5D8,1922400,20,Timer;!`
}

function stx(line: string): string {
  return `${line}${sum8(Buffer.from(line)).toString(16).padStart(2, '0').toUpperCase()}\r\n`
}
