import { ByteWriter, mph } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = {
  time: '2024-05-01T23:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: mph(54),
  heading: 298,
  satellites: 9,
}

export default {
  costly: { 'a long content': frame(0x03, '00'.repeat(COSTLY_SIZE - 64)), starts: Buffer.alloc(COSTLY_SIZE, 0x55) },
  frames: [
    {
      title: 'a login, a position, flags and a type that are not known',
      frames: [
        {
          frame: frame(0x01, '010011023402010201'),
          device: ID,
          none: 'login',
          reply: frame(0x02, '01000000000000', '00'),
        },
        { frame: frame(0x03, position('08712a', '94')), device: ID, fixes: [FIX], reply: frame(0x04, '0102', '00') },
        { frame: frame(0x03, position('18712a', '94')), device: ID, fixes: [], reply: frame(0x04, '0102', '00') },
        { frame: frame(0x03, position('08712a', '96')), device: ID, fixes: [], reply: frame(0x04, '0102', '00') },
        {
          frame: Buffer.from(frame(0x03, position('08712a', '94'))).fill(1, 21, 22),
          device: ID,
          fixes: [FIX],
          reply: frame(0x04, '0102', '00'),
        },
        { frame: frame(0x07, '00'), device: ID },
        {
          frame: frame(0x03, '0001'),
          error: 'truncated',
          envelope: { device: ID, reply: frame(0x04, '0001', '00') },
        },
        { frame: Buffer.from(frame(0x01, '00')).fill(0x78, 5, 6), error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases

function frame(type: number, content: string, sum = 'ab'): Buffer {
  const w = new ByteWriter()
    .hex('55550003')
    .ascii(ID)
    .u8(type)
    .u16(content.length / 2)
    .hex(content)
  return w.hex(`${sum}aaaa`).toBuffer()
}

/** 52.525° N, 13.41° W. */
function position(motion: string, flags: string): string {
  return bytes(`0102 03 6632cd12 184f1a 147648 502594 ${motion} ${flags}`).toString('hex')
}
