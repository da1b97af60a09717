import { ByteWriter, kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'
import { eachSaid } from '../support/vectors/corrections.ts'

const ID = '356307042441013'
const FIX = {
  time: '2026-11-20T15:00:10Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: kmh(36),
  heading: 270,
  satellites: 9,
}
const PLACE = '-13410000,52525000,3,36,270,9,3,3,34,319064,26202,0000'

export default {
  costly: {
    digits: many('1'),
    commas: `0230${ID}98,${many(',')}`,
    'a text without an end': `0026${many('A')}|`,
  },
  frames: [
    {
      title: 'a login and positions',
      frames: [
        { frame: '0026424242|226|10|002004010\0', device: '424242', none: 'login' },
        { frame: `0230${ID}98,201126150012,0,201126150010,${PLACE}\0`, device: ID, fixes: [FIX] },
        {
          frame: '052042424298,201126150012,0,201126150010,-134100,525250,1,36,270,,,,34,142379\0',
          device: '424242',
          fixes: [{ ...FIX, valid: false, satellites: undefined }],
        },
        {
          frame: '052042424298,201126150012,0,201126150010,-1234500,525250,3,36,270,,,,34,142379\0',
          device: '424242',
          fixes: [{ ...FIX, longitude: -123.45, satellites: undefined }],
        },
        {
          frame: '052042424298,201126150012,0,201126150010,-134100,52525000,3,36,270,,,,34,142379\0',
          device: '424242',
          fixes: [{ ...FIX, longitude: -0.1341, satellites: undefined }],
        },
        {
          frame: '052042424298,201126150012,0,201326150010,-134100,525250,3,36,270\0',
          error: 'malformed',
          envelope: { device: '424242' },
        },
        { frame: measured(`0230${ID}98,201126150012,0,201126150010,${PLACE}`), device: ID, fixes: [FIX] },
        {
          frame: measured('0044424242TLOC0267,00,011009000424242,201126150010,-134100,525250,3,36,270,,,,168,1474'),
          device: '424242',
          fixes: [{ ...FIX, satellites: undefined }],
        },
        { frame: measured('0044424242TLOC0267,00,1,201126150010,255178'), device: '424242', fixes: [] },
        {
          frame: `0230${ID}98,201126150012,0,201126150010,-13410000,52525000,3,36,270,9,1,1,34,319064,26202,0000,00,4142,0\0`,
          device: ID,
          fixes: [{ ...FIX, said: { battery_voltage: 4.142 } }],
        },
        {
          frame: `0230${ID}98,201126150012,0,201126150010,-13410000,52525000,3,36,270,9,,,34,319064,,0010,00,171,240\0`,
          device: ID,
          fixes: [FIX],
        },
        ...[
          { event: '22', said: { alarms: ['low_battery'] as const } },
          { event: '23', said: undefined },
          { event: '24', said: { moving: false } },
          { event: '25', said: { moving: true } },
        ].map(({ event, said }) => ({
          frame: `0230${ID}${event},201126150012,0,201126150010,${PLACE}\0`,
          device: ID,
          fixes: [{ ...FIX, said }],
        })),
        {
          frame: '003042424225,201126150012,0,201126150010,-134100,525250,3,36,270,9\0',
          device: '424242',
          fixes: [{ ...FIX, said: { moving: true } }],
        },
        { frame: '0130424242,201126150012,0,201126150010,,,1,0,0,0\0', device: '424242', none: 'no place' },
        {
          frame: `0230${ID},201126150012,0,201126150010,${PLACE.replace(',3,', ',,')}\0`,
          device: ID,
          fixes: [{ ...FIX, valid: false }],
        },
        { frame: 'GET / HTTP/1.1\0', error: 'unsupported' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'event 25 is "device started moving" by its place in the manual of the SBC AVL 4G: no alarm',
      frames: ['telic-001', 'telic-017', 'telic-018', 'telic-021'],
      says: eachSaid((each) => ({ ...each, alarms: undefined, motion: true })),
    },
    {
      reason: 'four digits are mV; 0 to 255, to which 171 and 255 belong, is an input of 8 bits and no battery',
      says: eachSaid(({ batteryV = 0, ...rest }) => (batteryV > 255 ? { ...rest, batteryV: batteryV / 1000 } : rest)),
    },
  ],
} satisfies ProtocolCases

function measured(text: string): Buffer {
  return new ByteWriter()
    .u32le(text.length + 1)
    .ascii(`${text}\0`)
    .toBuffer()
}
