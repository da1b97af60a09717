import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 54.687205,
  longitude: -25.27973,
  speed: 15,
  heading: 214.5,
}

export default {
  costly: { 'a line without an end': `(${ID}BP00${many('0')}`, digits: `(${many('1')}` },
  frames: [
    {
      title: 'positions',
      frames: [
        { frame: position('A'), device: ID, fixes: [FIX] },
        { frame: position('V'), device: ID, fixes: [{ ...FIX, valid: false }] },
        { frame: position('A').replace('BP00', 'BR00'), device: ID, fixes: [FIX] },
        { frame: `(${ID}BP05)`, device: ID },
        { frame: '(hello)', error: 'unsupported' },
      ],
    },
  ],
} satisfies ProtocolCases

function position(valid: string): string {
  const state = 'BP00XG01b500000000L000120abS00000000R0C0F0022000200a1'
  return `(${ID}${state}261120063015${valid}5441.2323N02516.7838W054.0214.50)`
}
