import { ByteWriter, crc16Xmodem } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'
import { flipped } from '../support/rough.ts'

const ID = '014869007258264'
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: 10, heading: 270, satellites: 9 }
const TIME = ((Date.UTC(2024, 4, 1, 23, 15, 30) - Date.UTC(2000, 0, 1)) / 1000).toString(16)
const SYSTEM = '1d 0f50726f6d612053617420313030302015 56312e31302656312e312e34'
const PLACE = '032177c8 00cc9ed0 0024 010e'

export default {
  costly: { 'records without content': frame(`ff${'00'.repeat(30_000)}`), flags: many('\xf8') },
  frames: [
    {
      title: 'records with and without a position',
      frames: [
        { frame: frame(`01 ${TIME} 0011 ${SYSTEM} 05 0401846dfc`), device: ID, none: 'no place' },
        {
          frame: frame(
            `02 ${TIME} 0003 ${SYSTEM} 13 003f 49 ${PLACE} 0022 005a ${TIME} 0022 0f 000f 09 ${PLACE} 02 1bf8`,
          ),
          device: ID,
          fixes: [{ ...FIX, altitude: 34, hdop: 0.9 }, FIX],
        },
        {
          frame: frame(`02 ${TIME} 0002 0f 000f 09 ${PLACE} ${TIME} 0002 0f 010f 09 ${PLACE}`),
          device: ID,
          fixes: [FIX],
          unreadable: [1],
        },
        { frame: frame(`01 ${TIME}`), error: 'truncated', envelope: { device: ID } },
        { frame: frame('01', '4605'), device: ID },
        { frame: frame('01', '0601'), error: 'unsupported' },
        { frame: flipped(frame(`01 ${TIME} 0011 ${SYSTEM} 05 0401846dfc`), 40), error: 'checksum' },
      ],
    },
  ],
  corrections: [
    {
      reason:
        'the id has seven bytes, as that of Gosafe: an IMEI whose check digit is right; the frame has no position',
      frames: ['g1rus-000'],
      says: { deviceId: ID, positions: [] },
    },
  ],
} satisfies ProtocolCases

function frame(content: string, type = '4604'): Buffer {
  const body = bytes(content)
  const w = new ByteWriter().hex(type).hex(BigInt(ID).toString(16).padStart(14, '0')).u16(body.length).bytes(body)
  const hex = w.crc16(crc16Xmodem).toBuffer().toString('hex')
  const escaped = (hex.match(/../g) ?? []).map((byte) => (byte === '1b' ? '1b00' : byte === 'f8' ? '1be3' : byte))
  return bytes(`f8${escaped.join('')}f8`)
}
