import { mph, xor } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const sum = (text: string) => xor(Buffer.from(text)).toString(16).toUpperCase().padStart(2, '0')
const signed = (text: string) => `${text}*${sum(`${text}*`)}<`
const virloc = (text: string) => `${text}*${sum(text)}<`
const PLACE = '+5252000-01341000036270'
const FIX = { latitude: 52.52, longitude: -13.41, speed: mph(36), heading: 270 }
const TIME = '2026-11-20T11:21:54Z'
const reply = signed('>ACK;ID=AA01;#0002;')

export default {
  costly: {
    semicolons: `>RPV00000${PLACE}32${many(';')}<`,
    parts: `>RPV00000${PLACE}32${many(';ID=1')}<`,
    digits: `>RPV${many('1')}<`,
  },
  frames: [
    {
      title: 'other events, fewer fields, no semicolon in front of the checksum',
      frames: [
        {
          frame: signed(`>RCY00201126112154${PLACE}FF00135;#0002;ID=AA01`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, said: { ignition: true } }],
          reply: signed('>ACK;#0002;ID=AA01;'),
        },
        {
          frame: virloc(`>RGP201126112154${PLACE}3;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, speed: 10 }],
          reply,
        },
        { frame: signed(`>RPV40914${PLACE}32`), fixes: [{ time: TIME, ...FIX }] },
      ],
    },
    {
      title: 'positions, each of a kind',
      frames: [
        {
          frame: signed(`>RPV40914${PLACE}32;ID=0017;`),
          isTypical: true,
          device: '0017',
          fixes: [{ time: TIME, ...FIX }],
          reply: '0017',
        },
        {
          frame: `>RPV40914${PLACE}90;ID=0017<`,
          device: '0017',
          fixes: [{ time: TIME, ...FIX, valid: false }],
          reply: '0017',
        },
        {
          frame: `>REV012445540914${PLACE}32;IO=300;SV=8;ID=0017<`,
          device: '0017',
          fixes: [{ time: TIME, ...FIX, satellites: 8, said: { ignition: true, charging: true } }],
          reply: '0017',
        },
        {
          frame: virloc(`>RGP201126112154${PLACE}3007F4101;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, speed: 10, hdop: 1, said: { ignition: false } }],
          reply,
        },
        {
          frame: signed(`>RGP201126112154${PLACE}0FF7F;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, speed: 10, valid: false, said: { ignition: false } }],
          reply,
        },
        {
          frame: signed(`>RPI201126112154${PLACE}1050000;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, said: { ignition: false } }],
          reply,
        },
        {
          frame: signed(`>RCQ00201126112154${PLACE}FF00135;#0002;ID=AA01;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, said: { ignition: true } }],
          reply: signed('>ACK;#0002;ID=AA01;'),
        },
        {
          frame: signed(`>RUS00,201126112154${PLACE}200FF,000,0;ID=AA01;#IP1:089F;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, said: { ignition: true } }],
          reply: '>SAK;ID=AA01;#IP1:089F<',
        },
        {
          frame: signed(`>RBR00201126112154${PLACE}200FF;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX }],
          reply: signed('>ACK;ID=AA01;#0002;'),
        },
        {
          frame: signed(`>RUB00,201126112154${PLACE}200FF,000;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, said: { ignition: true } }],
          reply: signed('>ACK;ID=AA01;#0002;'),
        },
        {
          frame: signed(`>RUV01111,NT003,201126112154${PLACE}300DE0006,0;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, speed: 10, hdop: 6, said: { ignition: true } }],
          reply,
        },
      ],
    },
    {
      title: 'voltages, minutes of RGP, an unreadable time that is answered',
      frames: [
        {
          frame: signed(`>RUS00,201126112154${PLACE}2007F,000,0,15640422,0;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, said: { ignition: false, external_voltage: 15.64, battery_voltage: 4.22 } }],
          reply,
        },
        {
          frame: signed(`>RUV01111,NT003,201126112154${PLACE}900FF0006,04111585,0;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [
            {
              time: TIME,
              ...FIX,
              speed: 10,
              valid: false,
              hdop: 6,
              said: { ignition: true, external_voltage: 15.85, battery_voltage: 4.11 },
            },
          ],
          reply,
        },
        {
          frame: signed('>RGP201126112154+5231.2000-01324.60000362703007F;ID=AA01;#0002;'),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, speed: 10, said: { ignition: false } }],
          reply,
        },
        {
          frame: signed(`>RTT201126112154${PLACE}300DF2101 0410;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, speed: 10, hdop: 1, said: { ignition: true } }],
          reply,
        },
        {
          frame: signed(`>REV012445540914${PLACE}32;IO=200;BL=4158;ID=0017`),
          device: '0017',
          fixes: [{ time: TIME, ...FIX, said: { ignition: false, charging: true, battery_voltage: 4.158 } }],
          reply: '0017',
        },
        {
          frame: signed(`>REV012445540914${PLACE}32;IO=100;BL=4158;ID=0017`),
          device: '0017',
          fixes: [{ time: TIME, ...FIX, said: { ignition: true, battery_voltage: 4.158 } }],
          reply: '0017',
        },
        {
          frame: signed(`>RGP321126112154${PLACE}3007F;ID=AA01;#0002;`),
          error: 'malformed',
          envelope: { device: 'AA01', reply },
        },
      ],
    },
    {
      title: 'the long report and the compact one',
      frames: [
        {
          frame: signed('>RLN40914500+525200000-0134100000+000100000036+000527000200000700000000000000000032;ID=0017;'),
          device: '0017',
          fixes: [
            {
              time: '2026-11-20T11:21:54.500Z',
              latitude: 52.52,
              longitude: -13.41,
              speed: mph(3.6),
              heading: 270,
              altitude: 30.48,
              satellites: 2,
            },
          ],
          reply: '0017',
        },
        {
          frame: signed('>RLN40914500+525200000-0134100000+000100000036+00052700000000000000092;ID=0017;'),
          device: '0017',
          fixes: [
            {
              time: '2026-11-20T11:21:54.500Z',
              latitude: 52.52,
              longitude: -13.41,
              speed: mph(3.6),
              heading: 270,
              altitude: 30.48,
              satellites: 0,
              valid: false,
            },
          ],
          reply: '0017',
        },
        {
          frame: signed('>RCP40914+525200-013410032;ID=0017;'),
          device: '0017',
          fixes: [{ time: TIME, latitude: 52.52, longitude: -13.41 }],
          reply: '0017',
        },
      ],
    },
    {
      title: 'reports of TrimTrac, of both versions',
      frames: [
        {
          frame: signed('>RTKP00551087F2445472914000000100000+525200000-0134100000+00118036270;ID=AA000001;'),
          device: 'AA000001',
          fixes: [{ time: TIME, ...FIX, altitude: 35.9664, said: { battery_percent: 87 } }],
        },
        {
          frame: signed('>RTKP00551087T244547291450-525200000+0134100000-00118036270;ID=AA000001;'),
          device: 'AA000001',
          fixes: [
            {
              time: TIME,
              ...FIX,
              latitude: -52.52,
              longitude: 13.41,
              altitude: -35.9664,
              valid: false,
              said: { battery_percent: 87 },
            },
          ],
        },
        {
          frame: signed('>RTKS00551087F2445472914501000010000;ID=AA000001;'),
          device: 'AA000001',
          none: 'no fix',
          said: { battery_percent: 87 },
        },
      ],
    },
    {
      title: 'what holds no position, or none that is read',
      frames: [
        { frame: signed('>RAL19500+00230+00012;ID=AA01;'), device: 'AA01', none: 'status' },
        { frame: signed('>RLN19500000+525200000-0134100000;ID=AA01;'), device: 'AA01', fixes: [] },
        { frame: signed('>RXX1;ID=AA01;'), device: 'AA01' },
        { frame: signed('>RXX1;ID=AA01;#0003;'), device: 'AA01', reply: signed('>ACK;ID=AA01;#0003;') },
        { frame: signed('>RXX1;ID=AA01;').replace('1', '2'), error: 'checksum' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'no battery has 135 V, and the unit of the field is not known',
      frames: ['taip-004'],
      says: eachSaid((each) => ({ ...each, batteryV: undefined })),
    },
    {
      reason: 'REV: which event has the number 01 is what the owner of the device set (TAIP, event reports)',
      frames: ['taip-020'],
      says: eachSaid((each) => ({ ...each, alarms: undefined })),
    },
    {
      reason: 'RUV: an input of the main power does not say that the battery is being charged',
      frames: ['taip-036', 'taip-038'],
      says: eachSaid((each) => ({ ...each, charging: undefined })),
    },
    {
      reason: 'RTT has the fields of RGP, and a number that is to be acknowledged',
      frames: ['taip-005'],
      says: {
        positions: [
          {
            time: '2023-11-15T15:31:49Z',
            valid: true,
            lat: -43.30468,
            lon: -65.0364,
            altitude: 0,
            speedKnots: 0,
            course: 9,
            hdop: 1,
          },
        ],
        replies: [{ text: '>ACK;ID=8803;#1ABD;*00<' }],
      },
    },
    {
      reason: 'RLN holds a position ("Message Type 101, Trimble Proprietary LN message" of Cypress)',
      frames: ['taip-001'],
      says: {
        positions: [
          {
            time: '2026-11-20T05:25:00Z',
            valid: true,
            lat: 33.7885218,
            lon: -85.7685155,
            altitude: 229.801,
            speedKnots: 0,
            course: 0,
            sat: 8,
          },
        ],
        replies: [{ text: '3168' }],
      },
    },
    {
      reason: 'the same',
      frames: ['taip-016'],
      says: {
        positions: [
          {
            time: '2026-11-20T01:04:34Z',
            valid: true,
            lat: 34.7770828,
            lon: -92.3453071,
            altitude: 185.401,
            speedKnots: 0,
            course: 292.3,
            sat: 9,
          },
        ],
        replies: [{ text: '0017' }],
      },
    },
    {
      reason: 'a clock that was never set, which has no date, gives no time',
      frames: ['taip-023'],
      says: { positions: [] },
    },
  ],
} satisfies ProtocolCases
