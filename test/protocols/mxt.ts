import { ByteWriter, crc16Xmodem } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'
import { eachSaid } from '../support/vectors/corrections.ts'

/** The supply in frames that have their escapes, V. */
const SUPPLIES: Readonly<Record<string, number>> = {
  'mxt-006': 12.178,
  'mxt-007': 10.904,
  'mxt-008': 12.203,
  'mxt-009': 12.225,
  'mxt-010': 10.904,
}
const FIX = { time: '2024-05-01T10:15:30Z', latitude: -23.525, longitude: -46.41, speed: 10 }

export default {
  costly: { escapes: `\x01${many('\x10\x21').slice(10)}\x04` },
  frames: [
    {
      title: 'a position, another type',
      frames: [
        { frame: wrapped(position()), device: '8222744', fixes: [FIX], reply: answer() },
        {
          frame: wrapped(position().subarray(0, 20)),
          error: 'truncated',
          envelope: { device: '8222744', reply: answer(position().subarray(0, 20)) },
        },
        {
          frame: wrapped(powered()),
          device: '8222744',
          fixes: [{ ...FIX, said: { external_voltage: 12.178 } }],
          reply: answer(powered()),
        },
        { frame: wrapped(new ByteWriter().hex('a63218787d00').toBuffer()), device: '8222744' },
      ],
    },
  ],
  corrections: [
    {
      reason:
        'these frames have their escapes, without which their checksums fit: the peer reads an escape as the speed',
      says: ({ id, positions: [first, ...others] }) =>
        id === 'mxt-000' ? undefined : { positions: [{ ...first, speedKnots: 0 }, ...others] },
    },
    {
      reason: 'the same of the flags and of the supply, which stands 12 bytes before the end: no battery has 37,376 V',
      frames: Object.keys(SUPPLIES),
      says: eachSaid((_, { id }) => ({ powerV: SUPPLIES[id] })),
    },
    {
      reason: 'the same: an escape within the checksum that is answered',
      frames: ['mxt-007', 'mxt-010'],
      says: { replies: [{ hex: '01a60218787d00108c284604' }] },
    },
  ],
} satisfies ProtocolCases

function position(): Buffer {
  const days = (Date.UTC(2024, 4, 1) - Date.UTC(2000, 0, 1)) / 86_400_000
  const time = ((days * 32 + 10) * 64 + 15) * 64 + 30
  const w = new ByteWriter().hex('a63118787d0008646845').u32le(time).u32le(-23_525_000).u32le(-46_410_000)
  return w.hex('01201080').u8(36).hex('0410111300').toBuffer()
}

/** A position with the groups behind it. */
function powered(): Buffer {
  return Buffer.concat([position(), Buffer.from('000000922f0000f42701007b175535', 'hex')])
}

function wrapped(content: Buffer): Buffer {
  const bytes = new ByteWriter().bytes(content).crc16le(crc16Xmodem).toBuffer()
  const escapes = [...bytes].flatMap((byte) => ([1, 4, 0x10, 0x11, 0x13].includes(byte) ? [0x10, byte + 0x20] : [byte]))
  return Buffer.from([1, ...escapes, 4])
}

function answer(to = position()): Buffer {
  return wrapped(new ByteWriter().hex('a60218787d00').u16le(crc16Xmodem(to)).toBuffer())
}
