import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const ID = '907000123'
const CLOCK = '20240501;23:15:30'
const PLACE = '+52.525000;+013.410000;036.000;270.50'
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: 10, heading: 270.5 }

function zip(content: string): Buffer {
  const body = bytes(content)
  return new ByteWriter().u8(2).u16(body.length).bytes(body).u8(3).toBuffer()
}

export default {
  costly: {
    'one field': `ST300STT;${many('1')}`,
    'empty fields': `ST300STT;${many(';')}`,
    'clocks without a place': `ST300STT;${many(`${CLOCK};`)}`,
    'user data': `ST300UEX;${many('+1.0;')}`,
  },
  frames: [
    {
      title: 'reports of models with their cells in different places',
      frames: [
        {
          frame: `ST300STT;${ID};04;0712;${CLOCK};1a2b3;${PLACE};9;1;1234;12.50;100000;2;0072;004321;4.1;1\r`,
          device: ID,
          fixes: [{ ...FIX, satellites: 9, said: { ignition: true, external_voltage: 12.5, battery_voltage: 4.1 } }],
        },
        {
          frame: `SA200ALT;317000;042;${CLOCK};1a2b3;-15.618770;-056.083242;036.000;270.50;0;0;2404;0.00;000000;10\r`,
          device: '317000',
          fixes: [
            {
              ...FIX,
              latitude: -15.61877,
              longitude: -56.083242,
              satellites: 0,
              valid: false,
              said: { ignition: false, external_voltage: 0 },
            },
          ],
        },
        {
          frame: `ST600EMG;${ID};20;419;${CLOCK};0032cc3e;736;3;445c;41;${PLACE};10;1;11655;13.33;100000;1\r`,
          device: ID,
          fixes: [{ ...FIX, satellites: 10, said: { ignition: true, external_voltage: 13.33, alarms: ['sos'] } }],
        },
        {
          frame: `ST410STT;${ID};408;01;21651;732;123;-65;1824;1;3.7;1;0156;1;${CLOCK};${PLACE};10;1\r`,
          device: ID,
          fixes: [{ ...FIX, satellites: 10, said: { battery_voltage: 3.7 } }],
        },
        {
          frame: `ST4300DEX;${ID};20;419;${CLOCK};0032cc3e;736;3;445c;41;-52.525000;-013.410000;036.000;270.50;10;1;\r`,
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41, satellites: 10 }],
        },
        { frame: `ST300SGN;${ID};04;0712\r`, device: ID },
        {
          frame: `ST910;Location;${ID};500;${CLOCK};${PLACE};1;3.8;0;1;9159\r`,
          device: ID,
          fixes: [{ ...FIX, said: { battery_voltage: 3.8 } }],
        },
        {
          frame: `UEX;${ID};03FFFFFF;161;3.0.9;0;${CLOCK};00006697;724;11;4EDA;33;${PLACE};11;1;00000001;00000000;24;GTSL|6|1|0|12345678|1|\r\n;A7;;164;0;11.82\r`,
          device: ID,
          fixes: [{ ...FIX, satellites: 11, said: { ignition: true, driver: '12345678' } }],
        },
        {
          frame: `ST300EVT;${ID};07;564;${CLOCK};232e19;${PLACE};9;1;478391;11.53;000100;2;1;9498;079324;4.3;1;0.00\r`,
          device: ID,
          fixes: [{ ...FIX, satellites: 9, said: { ignition: false, external_voltage: 11.53, battery_voltage: 4.3 } }],
        },
        {
          frame: `ST300UEX;${ID};04;0712;${CLOCK};1a2b3;${PLACE};9;1;0;15.30;001100;4;a\r\nb;12;0;4.5;1\r`,
          device: ID,
          fixes: [{ ...FIX, satellites: 9, said: { ignition: false, external_voltage: 15.3 } }],
        },
        {
          frame: `ST300ALT;${ID};04;0712;${CLOCK};1a2b3;${PLACE};9;1;1234;0.00;000000;41;004321;3.9;1;01B54221010000;0\r`,
          device: ID,
          fixes: [
            {
              ...FIX,
              satellites: 9,
              said: {
                ignition: false,
                external_voltage: 0,
                battery_voltage: 3.9,
                driver: '01B54221010000',
                alarms: ['power_cut'],
              },
            },
          ],
        },
        {
          frame: `ST500STT;${ID};07;843;${CLOCK};${PLACE};9;1;1234;12.89;0;0;1;4659;002.795;0;001.891;611;4.0\r`,
          device: ID,
          fixes: [{ ...FIX, satellites: 9, said: { external_voltage: 12.89 } }],
        },
      ],
    },
    {
      title: 'universal reports: all fields, and those that the mask names',
      frames: [
        {
          frame: `STT;0${ID};3FFFFF;52;1.0.2;0;${CLOCK};00004697;732;101;0002;59;${PLACE};6;1;00000000;00000000;9;1;12\r`,
          device: `0${ID}`,
          fixes: [{ ...FIX, satellites: 6, said: { ignition: false } }],
        },
        {
          frame: `ALT;0${ID};BFFFFF;52;1.0.2;0;${CLOCK};00004697;732;101;0002;59;${PLACE};6;1;00000001;00000000;42;1;;00000003;4.1;12.92\r`,
          device: `0${ID}`,
          fixes: [
            {
              ...FIX,
              satellites: 6,
              said: { ignition: true, battery_voltage: 4.1, external_voltage: 12.92, alarms: ['sos'] },
            },
          ],
        },
        {
          frame: `STT;0${ID};BFFFFF;52;1.0.2;0;${CLOCK};00004697;732;101;0002;59;${PLACE};6;1;00000001;00000000;2;1;12;00000002;12.92\r`,
          device: `0${ID}`,
          fixes: [{ ...FIX, satellites: 6, said: { ignition: true, external_voltage: 12.92 } }],
        },
        { frame: `SNB;0${ID};FFFFFF;52;1.0.2;1;1;1;0\r`, device: `0${ID}` },
        {
          frame: `BDA;0${ID};FFFFFF;52;1.0.2;1;1;1;2;${CLOCK};+52.525000;+13.410000;0201;AC233F000001;-60\r`,
          device: `0${ID}`,
          fixes: [{ time: FIX.time, latitude: 52.525, longitude: 13.41 }],
        },
        { frame: `ALT;0${ID};01F831;2024;23:15:30;${PLACE};7;0\r`, error: 'malformed', envelope: { device: `0${ID}` } },
        {
          frame: `ALT;0${ID};01F831;${CLOCK};${PLACE};7;0;00000000\r`,
          device: `0${ID}`,
          fixes: [{ ...FIX, satellites: 7, valid: false }],
        },
        {
          frame: `STT;0${ID};01F831;${CLOCK};${PLACE.replace('+52', '52').replace('+013', '13')};7;1;00000000\r`,
          device: `0${ID}`,
          fixes: [{ ...FIX, satellites: 7 }],
        },
        { frame: `ALT;0${ID};000031;${CLOCK};00000000\r`, device: `0${ID}`, none: 'no place' },
        { frame: `RES;0${ID};04;02\r`, device: `0${ID}`, none: 'command answer' },
        { frame: `BDA;0${ID};1;2\r`, device: `0${ID}` },
      ],
    },
    {
      title: 'zip reports',
      frames: [
        {
          frame: zip('10 9070001230 28 813f 180501170f1e 105129 34525000 0d410000 002400 010e50 c9 00000000'),
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, satellites: 9 }],
        },
        {
          frame: zip('10 9070001230 28 813f 180501170f1e 105129 34525000 0d410000 ffffff ffffff c9 00000000'),
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, speed: undefined, heading: undefined, satellites: 9 }],
        },
        {
          frame: new ByteWriter()

            .hex('81002e09070001233fffff3401000300180501170f1e0000000000000000000000')
            .u32(52_525_000)
            .u32(2 ** 31 + 13_410_000)
            .u16(3600)
            .u16(27_050)
            .hex('12010200')
            .toBuffer(),
          device: '0907000123',
          fixes: [{ ...FIX, longitude: -13.41, satellites: 18, said: { ignition: false } }],
        },
        {
          frame: zip(
            '13 9070001230 28 813f 180501170f1e 105129 34525000 0d410000 002400 010e50 c9 00000000 0c50 01 28 00000000 0410 01',
          ),
          device: ID,
          fixes: [
            {
              ...FIX,
              latitude: -52.525,
              satellites: 9,
              said: { ignition: true, external_voltage: 12.5, battery_voltage: 4.1, alarms: ['power_restored'] },
            },
          ],
        },
        {
          frame: new ByteWriter()
            .hex('aa001f0907000123ffffff340100030101010000180501170f1e')
            .u32(52_525_000)
            .u32(2 ** 31 + 13_410_000)
            .toBuffer(),
          device: '0907000123',
          fixes: [{ time: FIX.time, latitude: 52.525, longitude: -13.41 }],
        },
        { frame: zip('10 9070001230 28 813f 18'), error: 'truncated', envelope: { device: ID } },
        { frame: zip('20 0907001230 28 813f 180501'), device: '0907001230' },
        { frame: zip('20 9070001230 28 813f 180501'), device: ID },
        { frame: bytes('90 0005 0907000123'), device: '0907000123' },
      ],
    },
    {
      title: 'reports over UDP',
      transport: 'udp',
      frames: [
        {
          frame: `ST300STT;${ID};04;0712;${CLOCK};1a2b3;${PLACE};9;1;1234;12.50;100000;2;0072\r`,
          device: ID,
          fixes: [{ ...FIX, satellites: 9, said: { ignition: true, external_voltage: 12.5 } }],
          reply: `ST300ACK;${ID}`,
        },
        {
          frame: `ST300STT;${ID};04;248\r`,
          error: 'malformed',
          envelope: { device: ID, reply: `ST300ACK;${ID}` },
        },
        {
          frame: zip('10 9070001230 28 813f 180501170f1e 105129 34525000 0d410000 002400 010e50 c9 00000000'),
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, satellites: 9 }],
          reply: bytes('15 9070001230'),
        },
        { frame: 'SA200ALV;317000\r', device: '317000', none: 'heartbeat' },
        { frame: `ST300CMD;Res;${ID};315;Disable1\r`, device: ID, none: 'command answer' },
      ],
    },
    {
      title: 'no position',
      frames: [
        { frame: 'SA200ALV;317000\r', device: '317000', none: 'heartbeat' },
        { frame: `ST300ADP;Res;${ID};022;U;T;2;9000\r`, device: ID, none: 'command answer' },
        { frame: `ST300CMD;Res;${ID};315;Disable1\r`, device: ID, none: 'command answer' },
        { frame: `ST300HTE;${ID};04;248;${CLOCK};167559;12.28;${PLACE}\r`, device: ID, none: 'trip' },
        {
          frame: `ST300HTE;${ID};04;248;${CLOCK};167559;12.28;0;01E04D44160000\r`,
          device: ID,
          none: 'trip',
          said: { driver: '01E04D44160000' },
        },
        { frame: `ST300NEW;${ID};04;248\r`, device: ID },
        { frame: `ST300STT;${ID};04;248;${CLOCK};1a2b3;;;;;0;0\r`, device: ID, none: 'no place' },
        { frame: `ST300STT;${ID};04;248\r`, error: 'malformed', envelope: { device: ID } },
        { frame: '-Error\r', error: 'unsupported' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'EVT: 9498 is the number of the message, in front of the hours and 4.3 V; 0.00 is no key',
      frames: ['suntech-072'],
      says: eachSaid((each) => ({ ...each, driver: undefined, batteryV: 4.3 })),
    },
  ],
  exceptions: { 'suntech-062': 'an error text of a modem, without an id: no report' },
} satisfies ProtocolCases
