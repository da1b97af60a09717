import { ByteWriter, knots } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, eachSaid, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '359231031000777'
const u24 = (value: number) => value.toString(16).padStart(6, '0')

function position(flags: string): Buffer {
  const w = new ByteWriter().hex(`02${'00'.repeat(14)}${flags}${u24(231530)}${u24(10524)}`)
  return w
    .u8(52)
    .hex(u24(315_000 * 16 + 1))
    .u8(13)
    .hex(u24(246_000 * 16 + 1))
    .hex('0a010e5a')
    .toBuffer()
}

const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: knots(10), heading: 270 }

export default {
  costly: { zeros: Buffer.concat([position('85'), Buffer.alloc(COSTLY_SIZE)]) },
  frames: [
    {
      title: 'logins of both kinds and positions',
      frames: [
        { frame: bytes(`10 5561 0${ID} 8f`), device: ID, none: 'login', reply: Buffer.from('resp_crc=\x8f', 'latin1') },
        {
          frame: bytes(`41 0${ID} 411396026620951488 07`),
          device: ID,
          none: 'login',
          reply: 'resp_crc=\x07',
        },
        { frame: position('85'), fixes: [FIX] },
        { frame: position('05'), fixes: [{ ...FIX, valid: false }] },
        { frame: position('85').subarray(0, 20), error: 'truncated' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'a beacon has no battery of 62 V',
      says: eachSaid(() => ({})),
    },
  ],
} satisfies ProtocolCases
