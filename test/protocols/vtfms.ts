import { kmh, xor } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = { time: '2026-11-20T15:45:59Z', latitude: 52.525, longitude: 13.41, speed: kmh(36) }
const signed = (text: string) => `(${text})${String(xor(Buffer.from(text))).padStart(3, '0')}`

export default {
  costly: {
    commas: signed(`${ID}${many(',')}`),
    'one number': signed(`${ID},0EF87,00,0,21,2,01,,A,154559,201126,${many('1')}`),
  },
  frames: [
    {
      title: 'positions of each notation',
      frames: [
        {
          frame: signed(`${ID},0EF87,00,0,21,2,09,,A,154559,201126,5231.5000,01324.6000,270,036,00078,00000,K`),
          device: ID,
          fixes: [{ ...FIX, heading: 270, satellites: 9 }],
        },
        {
          frame: signed(`${ID},00I76,00,000,,,,,V,154559,201126,52.52500,013.41000,SW,036,00598,00000,K`),
          device: ID,
          fixes: [{ ...FIX, heading: 225, valid: false }],
        },
        {
          frame: signed(
            `${ID},0EF87,00,0,21,2,09,,A,154559,201126,5231.5000,01324.6000,270,036,00078,00000,K,0000812,1,12.7,,,,,,1,0,0,0,1,1,1,,`,
          ),
          device: ID,
          fixes: [{ ...FIX, heading: 270, satellites: 9, said: { charging: true, external_voltage: 12.7 } }],
        },
        {
          frame: signed(
            `${ID},0EF87,00,0,21,2,09,,A,154559,201126,52.52500,01324.6000,SW,036,00078,00000,K,0000812,0,0.0,,,200`,
          ),
          device: ID,
          fixes: [{ ...FIX, heading: 225, satellites: 9, said: { charging: false, external_voltage: 0 } }],
        },
        { frame: signed(`${ID},x`), device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
