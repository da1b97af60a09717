import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

function packet(type: string, content: string): Buffer {
  const body = bytes(content)
  return new ByteWriter()
    .hex(`2424${type}`)
    .u16(body.length + 2)
    .bytes(body)
    .xor()
    .u8(0x0d)
    .toBuffer()
}

/** The answer names the checksum and the type of what it answers. */
function answer(frame: Buffer): Buffer {
  return new ByteWriter()
    .hex('2424210005')
    .u8(frame[frame.length - 2])
    .u8(frame[2])
    .u8(0)
    .xor()
    .u8(0x0d)
    .toBuffer()
}

/** 136 12 34 56 78: the third digit is in the highest bits, 0110. */
const SHORT = '0ca2b84e'
const SHORT_ID = '13612345678'
const IMEI = '861234567890123'
const PLACE = '240501231530 05231500 01324600 0036 0270'
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: 10, heading: 270 }

const POSITION = packet('80', `${SHORT} ${PLACE} c0 47 00001234`)
const ALARM = packet('82', `${IMEI}0 240501231530 85231500 81324600 0036 0270 00 47`)
const ANSWER = packet('81', `${SHORT} ${PLACE} c0`)
const HEARTBEAT = packet('21', SHORT)
const UNSET = packet('80', `${SHORT} a60101c662bc ${'00'.repeat(12)} 00 47`)
const UNMEASURED = packet('80', `${SHORT} ${PLACE.replace('0036 0270', 'ffff ffff')} c0`)
const UNKNOWN = packet('85', SHORT)
const OTHER = packet('83', `${SHORT} ${PLACE} c0 47`)

export default {
  costly: { zeros: Buffer.concat([POSITION, Buffer.alloc(COSTLY_SIZE)]) },
  frames: [
    {
      title: 'a heartbeat and a position in one datagram',
      transport: 'udp',
      frames: [
        { frame: HEARTBEAT, device: SHORT_ID, none: 'heartbeat', reply: answer(HEARTBEAT) },
        { frame: POSITION, device: SHORT_ID, fixes: [FIX], reply: answer(POSITION) },
      ],
    },
    {
      title: 'positions under both kinds of ids, a heartbeat, a clock that was never set',
      frames: [
        { frame: POSITION, device: SHORT_ID, fixes: [FIX], reply: answer(POSITION) },
        {
          frame: UNMEASURED,
          device: SHORT_ID,
          fixes: [{ ...FIX, speed: undefined, heading: undefined }],
          reply: answer(UNMEASURED),
        },
        { frame: OTHER, device: SHORT_ID, fixes: [FIX], reply: answer(OTHER) },
        {
          frame: ALARM,
          device: IMEI,
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41, valid: false }],
          reply: answer(ALARM),
        },
        { frame: ANSWER, device: SHORT_ID, fixes: [FIX], reply: answer(ANSWER) },
        { frame: HEARTBEAT, device: SHORT_ID, none: 'heartbeat', reply: answer(HEARTBEAT) },
        { frame: UNSET, device: SHORT_ID, none: 'no date', reply: answer(UNSET) },
        { frame: UNKNOWN, device: SHORT_ID, reply: answer(UNKNOWN) },
        { frame: packet('80', `${SHORT} 240501231530 0523`), error: 'truncated' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'its date is a60101c662bc, which are no packed decimals: the clock was never set',
      frames: ['gator-005'],
      says: { positions: [] },
    },
  ],
  exceptions: { 'gator-001': 'its length is that of gator-000, which it extends by five bytes' },
} satisfies ProtocolCases
