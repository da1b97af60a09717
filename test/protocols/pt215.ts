import { ByteWriter } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { 'a heartbeat of 64 KB': `XX\x01\x08${many('x').slice(10)}\r\n` },
  frames: [
    {
      title: 'login, heartbeat, a position',
      frames: [
        {
          frame: frame('0d01', '035933907541696301'),
          device: '359339075416963',
          none: 'login',
          reply: frame('0101', ''),
        },
        { frame: frame('0108', ''), none: 'heartbeat' },
        {
          frame: frame('1210', gps()),
          fixes: [
            {
              time: '2024-05-01T10:15:30Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: 10,
              heading: 270,
              satellites: 9,
            },
          ],
          reply: frame('1210', '1805010a0f1e'),
        },
        {
          frame: frame('1210', gps('180231')),
          error: 'malformed',
          envelope: { reply: frame('1210', '1802310a0f1e') },
        },
        { frame: frame('0155', '') },
      ],
    },
  ],
} satisfies ProtocolCases

function frame(head: string, content: string): Buffer {
  return new ByteWriter().hex('5858').hex(head).hex(content).ascii('\r\n').toBuffer()
}

function gps(date = '180501'): string {
  const w = new ByteWriter()
    .hex(`${date}0a0f1e`)
    .u8(0x99)
    .u32(52.525 * 1_800_000)
    .u32(13.41 * 1_800_000)
    .u8(36)
  return w.hex('1d0e').toBuffer().toString('hex')
}
