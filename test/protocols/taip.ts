import { mph, xor } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

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
          fixes: [{ time: TIME, ...FIX }],
          reply: signed('>ACK;#0002;ID=AA01;'),
        },
        {
          frame: virloc(`>RGP201126112154${PLACE}3;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX }],
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
          fixes: [{ time: TIME, ...FIX, satellites: 8 }],
          reply: '0017',
        },
        {
          frame: virloc(`>RGP201126112154${PLACE}3007F4101;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, hdop: 1 }],
          reply,
        },
        {
          frame: signed(`>RGP201126112154${PLACE}0FF7F;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, valid: false }],
          reply,
        },
        {
          frame: signed(`>RPI201126112154${PLACE}1050000;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX }],
          reply,
        },
        {
          frame: signed(`>RCQ00201126112154${PLACE}FF00135;#0002;ID=AA01;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX }],
          reply: signed('>ACK;#0002;ID=AA01;'),
        },
        {
          frame: signed(`>RUS00,201126112154${PLACE}200FF,000,0;ID=AA01;#IP1:089F;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX }],
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
          fixes: [{ time: TIME, ...FIX }],
          reply: signed('>ACK;ID=AA01;#0002;'),
        },
        {
          frame: signed(`>RUV01111,NT003,201126112154${PLACE}300DE0006,0;ID=AA01;#0002;`),
          device: 'AA01',
          fixes: [{ time: TIME, ...FIX, hdop: 6 }],
          reply,
        },
      ],
    },
    {
      title: 'what holds no position, or none that is read',
      frames: [
        { frame: signed('>RAL19500+00230+00012;ID=AA01;'), device: 'AA01', none: 'status' },
        { frame: signed('>RLN19500000+525200000-0134100000;ID=AA01;'), device: 'AA01', fixes: [] },
        { frame: signed('>RXX1;ID=AA01;'), device: 'AA01' },
        { frame: signed('>RXX1;ID=AA01;').replace('1', '2'), error: 'checksum' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'a clock that was never set, which has no date, gives no time',
      frames: ['taip-023'],
      says: { positions: [] },
    },
  ],
} satisfies ProtocolCases
