import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = { time: '2026-11-20T12:00:00Z', latitude: 52.53125, longitude: -13.40625 }

export default {
  costly: { 'settings without an end': `8000010333${many('00')}`, starts: many('8000') },
  corrections: [
    {
      reason: 'its flag says that it has no place; 1e-40 and 3e-23 degrees are other fields',
      says: ({ positions }) => (positions.some(({ lat }) => Math.abs(lat) > 1e-9) ? undefined : { positions: [] }),
    },
  ],
  frames: [
    {
      title: 'measurements, settings',
      frames: [
        {
          frame: frame('01', '0123001a00000000016e007f120000'),
          device: ID,
          none: 'no place',
          said: { battery_voltage: 3.66 },
        },
        {
          frame: frame('02', '0123001a00000000016e007f120000'),
          device: ID,
          none: 'no place',
          said: { battery_voltage: 3.66 },
        },
        {
          frame: frame('01', '012301c1568000425220001a00000000016e007f120000'),
          device: ID,
          fixes: [{ ...FIX, said: { battery_voltage: 3.66 } }],
        },
        {
          frame: frame('01', '01230100805641002052421a00000000016e007f120000'),
          device: ID,
          fixes: [{ ...FIX, longitude: 13.40625, said: { battery_voltage: 3.66 } }],
        },
        { frame: frame('01', '01230000'), device: ID, none: 'no place' },
        { frame: frame('09', '0123'), device: ID },
        {
          frame:
            '8000010333020E180A1E4B1E124801042015693400000000192.0.2.15;7000;192.0.2.15;7001;000000000000000000000081',
          none: 'command answer',
        },
        { frame: '800001010800AA81', error: 'malformed' },
        { frame: '800001010800AA00', error: 'unsupported' },
      ],
    },
  ],
} satisfies ProtocolCases

function frame(type: string, content: string): string {
  const length = (10 + content.length + 18) / 2
  return `800001${type}${length.toString(16).padStart(2, '0')}${content}1${ID}81`
}
