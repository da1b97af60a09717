import { ByteWriter } from '../../protocols/kit/index.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '860585000000777'

function packet(kind: string, content: string): Buffer {
  return new ByteWriter()
    .ascii(kind)
    .u8(5 + content.length / 2)
    .hex(content)
    .ascii('\r\n')
    .toBuffer()
}

const place = (flags: string) =>
  new ByteWriter()
    .hex(`180501170f1e09${flags}`)
    .u32(52.525 * 600_000)
    .u32(13.41 * 600_000)
    .hex('24010e8f0651')
    .toBuffer()
    .toString('hex')
const FIX = {
  time: '2024-05-01T23:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  speed: 10,
  heading: 270,
  satellites: 9,
}

export default {
  costly: { zeros: Buffer.concat([packet('$$', place('07')), Buffer.alloc(COSTLY_SIZE)]) },
  frames: [
    {
      title: 'a login, a heartbeat, positions',
      frames: [
        { frame: packet('$L', `0${ID}0001`), device: ID, none: 'login' },
        { frame: packet('$H', '1001c3065c0d0001'), none: 'heartbeat', reply: '$H#\r\n' },
        { frame: packet('$$', place('07')), fixes: [FIX] },
        {
          frame: packet('$$', place('00')),
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41, valid: false }],
        },
        {
          frame: packet('$$', `${place('07')}044b001a081001be`),
          fixes: [{ ...FIX, said: { external_voltage: 26 } }],
        },
        { frame: packet('$$', '180501'), error: 'truncated' },
      ],
    },
  ],
} satisfies ProtocolCases
