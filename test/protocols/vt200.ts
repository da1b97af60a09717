import { escaped, kmh, xor } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '631000000041'
const { wrap } = escaped({
  flag: 0x28,
  end: 0x29,
  escape: 0x3d,
  codes: new Map([
    [0x15, 0x28],
    [0x14, 0x29],
    [0x00, 0x3d],
  ]),
})

/** A content in hexadecimal, of a kind. */
function frame(kind: string, content: string): Buffer {
  const length = content.replaceAll(' ', '').length / 2
  const body = bytes(`${ID} ${kind} ${length.toString(16).padStart(4, '0')} ${content}`)
  return wrap(Buffer.concat([body, Buffer.of(xor(body))]))
}

const TIME = '010524 101530'
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  speed: kmh(0x28),
  heading: 270,
  satellites: 8,
}
const PLACE = { time: FIX.time, latitude: 52.525, longitude: -13.41, valid: false }

export default {
  costly: { escapes: Buffer.concat([bytes('28'), Buffer.alloc(COSTLY_SIZE, 0x3d), bytes('29')]) },
  frames: [
    {
      title: 'positions, ignition, a trip and a heartbeat, with escaped bytes',
      frames: [
        { frame: frame('2084', `01 003d ${TIME} 52315000 0132460007 28 87 08 00`), device: ID, fixes: [FIX] },
        { frame: frame('2086', `01 0029 ${TIME} 52315000 0132460007 28 87 08`), device: ID, fixes: [FIX] },
        {
          frame: frame('3089', `00 0000 ${TIME} 52315000 0132460002`),
          device: ID,
          fixes: [{ ...PLACE, said: { ignition: false } }],
        },
        { frame: frame('3089', `01 0000 ${TIME}`), device: ID, none: 'no place', said: { ignition: true } },
        {
          frame: frame('3089', `01 0000 ${TIME} 52315000 0132460002`),
          device: ID,
          fixes: [{ ...PLACE, said: { ignition: true } }],
        },
        { frame: frame('3088', '0000'), device: ID, none: 'trip' },
        { frame: frame('1088', ''), device: ID, none: 'heartbeat' },
        { frame: frame('0088', '00'), device: ID },
      ],
    },
  ],
  corrections: [
    {
      reason: 'a report that ends behind its time has no place',
      frames: ['vt200-015'],
      says: { positions: [] },
    },
  ],
} satisfies ProtocolCases
