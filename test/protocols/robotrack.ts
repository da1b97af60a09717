import { crc, kmh } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const crc8 = crc({ width: 8, polynomial: 0x07, initial: 0xff, reflected: false, xorOut: 0 })
const summed = (content: Buffer) => Buffer.concat([content, Buffer.of(crc8(content))])
const le = (value: number) => u(4, value).toReversed()
const LOGIN = Buffer.alloc(68)
LOGIN.write('ROBOTRACK', 1)
LOGIN.write('868204000000017123456789012', 17)
const position = (satellites: number) =>
  summed(
    Buffer.concat([
      bytes('03'),
      le(1714558530),
      le(52_525_000),
      le(13_410_000),
      Buffer.of(36, 0xa0 + satellites),
      Buffer.alloc(8),
    ]),
  )
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: 13.41, speed: kmh(36), satellites: 8 }

export default {
  costly: { 'a long position': Buffer.alloc(COSTLY_SIZE, 3) },
  frames: [
    {
      title: 'a login and positions',
      frames: [
        { frame: summed(LOGIN), device: '868204000000017', none: 'login', reply: summed(bytes('8001')) },
        { frame: position(8), fixes: [FIX] },
        { frame: position(0), fixes: [{ ...FIX, satellites: 0, valid: false }] },
      ],
    },
  ],
} satisfies ProtocolCases
