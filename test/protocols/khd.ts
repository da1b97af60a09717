import { ByteWriter } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const ID = '258b8c10'
const PLACE = '240501101530052315008132460000360270'
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, speed: 10, heading: 270 }

export default {
  costly: { 'a position and more': frame(0x80, `${PLACE}fb${'00'.repeat(65_000)}`) },
  frames: [
    {
      title: 'login and positions',
      frames: [
        { frame: frame(0xb1, ''), device: ID, none: 'login', reply: answer(0xb1, '') },
        { frame: frame(0x80, `${PLACE}fb000000`), device: ID, fixes: [FIX] },
        {
          frame: frame(0x80, `${PLACE}fb0000007ffc3f00001e005000000000`),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true } }],
        },
        {
          frame: frame(0xa3, `${PLACE}fb00000080001914${'00'.repeat(8)}0007 1b020000 200164`.replaceAll(' ', '')),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: false, battery_percent: 100 } }],
        },
        {
          frame: frame(0xa3, `${PLACE}fb00000000001914${'00'.repeat(8)}0000`),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true } }],
        },
        { frame: frame(0x8e, PLACE), error: 'truncated', envelope: { device: ID, reply: answer(0x8e, PLACE) } },
        { frame: frame(0x82, `${PLACE}78`), device: ID, fixes: [{ ...FIX, valid: false }] },
        { frame: frame(0x8e, `${PLACE}fb`), device: ID, fixes: [FIX], reply: answer(0x8e, `${PLACE}fb`) },
        { frame: frame(0x83, `${PLACE}fb`), device: ID, fixes: [FIX] },
        {
          frame: frame(0x80, `${PLACE.replace('00360270', 'ffffffff')}fb`),
          device: ID,
          fixes: [{ ...FIX, speed: undefined, heading: undefined }],
        },
        { frame: frame(0x84, '00'), device: ID },
      ],
    },
    {
      title: 'over UDP each packet is answered',
      transport: 'udp',
      frames: [
        { frame: frame(0x80, `${PLACE}fb`), device: ID, fixes: [FIX], reply: answer(0x80, `${PLACE}fb`) },
        { frame: frame(0x84, '00'), device: ID, reply: answer(0x84, '00') },
      ],
    },
  ],
  exceptions: { 'khd-013': 'its length field ends it before its position' },
} satisfies ProtocolCases

function frame(type: number, content: string): Buffer {
  const w = new ByteWriter()
    .u16(0x2929)
    .u8(type)
    .u16((6 + content.length / 2) & 0xffff)
    .hex(ID)
    .hex(content)
  return w.xor().u8(0x0d).toBuffer()
}

/** The third byte of an answer is the one behind the id: the checksum, if there is no content. */
function answer(type: number, content: string): Buffer {
  const sent = frame(type, content)
  const w = new ByteWriter()
    .hex('2929210005')
    .u8(sent[sent.length - 2])
    .u8(type)
    .u8(sent[9])
  return w.xor().u8(0x0d).toBuffer()
}
