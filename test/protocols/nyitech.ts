import { ByteWriter } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const ID = '014682002872'
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: 12.34,
  heading: 270.5,
  altitude: 34.5,
}

export default {
  costly: { 'a position and more': frame('0110', position('07') + '00'.repeat(65_000)) },
  frames: [
    {
      title: 'positions of each type, another type',
      frames: [
        { frame: frame('0110', position('07')), device: ID, fixes: [FIX] },
        { frame: frame('0120', '1c0c12031a30808080' + position('07')), device: ID, fixes: [FIX] },
        { frame: frame('0220', '1c0c12031a30808080' + position('04')), device: ID, fixes: [{ ...FIX, valid: false }] },
        {
          frame: frame('0320', '00'.repeat(14) + position('0b')),
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, longitude: 13.41 }],
        },
        { frame: frame('0930', '00'), device: ID },
        { frame: frame('0210', `80 ${position('07')} 11`.replaceAll(' ', '')), device: ID, fixes: [FIX] },
        { frame: frame('0210', position('04')), device: ID },
      ],
    },
  ],
} satisfies ProtocolCases

function position(flags: string): string {
  const w = new ByteWriter()
    .hex('0105180a0f1e')
    .hex(flags)
    .u32le(52.525 * 3_600_000)
    .u32le(13.41 * 3_600_000)
  return w.u16le(1234).u16le(2705).u16le(345).toBuffer().toString('hex')
}

function frame(type: string, content: string): Buffer {
  const w = new ByteWriter()
    .ascii('@@')
    .u16le((22 + content.length / 2) & 0xffff)
    .ascii(ID)
    .hex(type)
    .hex(content)
  return w.hex('a9c7').ascii('\r\n').toBuffer()
}
