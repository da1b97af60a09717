import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const LOGIN = frame([3, 56, 30, 70, 42, 44, 10, 13])
const PLACE = [20 | 0x80, 11, 26, 6, 30, 15, 52, 31, 50, 0, 1, 13, 24, 60, 0, 0, 9]
const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 52.525,
  longitude: 113.41,
  satellites: 9,
}

export default {
  costly: { 'as many frames as fit': Buffer.alloc(COSTLY_SIZE, LOGIN) },
  frames: [
    {
      title: 'login, positions',
      frames: [
        { frame: LOGIN, device: '356307042441013', none: 'login' },
        { frame: frame(PLACE), fixes: [FIX] },
        { frame: frame([20, 13]), error: 'malformed' },
      ],
    },
    {
      title: 'a frame without the byte at its end',
      frames: [{ frame: Buffer.concat([LOGIN.subarray(0, -1), Buffer.of(0x0a)]), error: 'malformed' }],
    },
    { title: 'no login', frames: [{ frame: frame(PLACE.with(0, 200)), error: 'malformed' }] },
  ],
} satisfies ProtocolCases

function frame(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(23, 0x20)
  for (const [i, value] of values.entries()) bytes[i] = value + 0x20
  bytes[22] = 0x0b
  return bytes
}
