import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '358899058000777'

function packet(type: string, content = ''): Buffer {
  const body = bytes(content)
  const w = new ByteWriter().ascii('hh').u8(13 + body.length)
  return w.hex(`2d1f0${ID}0002${type}`).bytes(body).ascii('\r\n').toBuffer()
}

const PLACE = new ByteWriter()
  .hex('180501170f1e')
  .u32(52.525 * 1_800_000)
  .u32(13.41 * 1_800_000)
  .hex('24010e000000')
  .toBuffer()
  .toString('hex')
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: 10, heading: 270 }

export default {
  costly: { zeros: Buffer.concat([packet('10'), Buffer.alloc(COSTLY_SIZE)]) },
  frames: [
    {
      title: 'positions, a heartbeat, an answer to a command',
      frames: [
        { frame: packet('10', `${PLACE}00000007`), device: ID, fixes: [FIX] },
        {
          frame: packet('10', `${PLACE}00000000`),
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41, valid: false }],
        },
        { frame: packet('1a', '04292d'), device: ID, none: 'heartbeat', reply: bytes('54681a0d0a') },
        { frame: packet('1c', '4f4b21'), device: ID, none: 'command answer' },
        { frame: packet('2f', '00'), device: ID },
        { frame: packet('10', '180501'), error: 'truncated', envelope: { device: ID } },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the byte behind the length is a level of the battery, 0 to 6, and no voltage',
      says: ({ positions }) => ({
        positions: positions.map(({ said, ...position }) => ({
          ...position,
          said: said && { ...said, powerV: undefined },
        })),
      }),
    },
  ],
} satisfies ProtocolCases
