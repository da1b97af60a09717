import { ByteWriter, crc16X25 } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'
import { eachSaid } from '../support/vectors/corrections.ts'

const ID = '213NX2016000777'

interface Packet {
  /** 0: the older envelope, without a version. */
  readonly version?: number
  readonly type: string
  readonly content: string
}

function packet({ version = 4, type, content }: Packet): Buffer {
  const body = bytes(content.replaceAll(' ', ''))
  const w = new ByteWriter().ascii(version ? '@@' : '$$').u16le((version ? 31 : 30) + body.length)
  if (version) w.u8(version)
  w.ascii(ID.padEnd(20, '\0')).hex(type).bytes(body)
  return w.crc16le(crc16X25).ascii('\r\n').toBuffer()
}

const answer = (type: string, content = '', version = 4) => packet({ version, type, content })

const STATE = '00'.repeat(34)
/** The state with the ignition on. */
const ON = `${'00'.repeat(24)}04${'00'.repeat(9)}`
const [OFF, RUNNING] = [{ ignition: false }, { ignition: true }]
/** 52.525° N, 13.41° E, 10 m/s, 270.5°, 2024-05-01 23:15:30, 9 satellites. */
const place = (flags: string) =>
  new ByteWriter()
    .hex('010518170f1e')
    .u32le(52.525 * 3_600_000)
    .u32le(13.41 * 3_600_000)
    .u16le(1000)
    .u16le(2705)
    .hex(flags)
    .toBuffer()
    .toString('hex')
const POSITION = place('9f')
const FIX = {
  time: '2024-05-01T23:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  speed: 10,
  heading: 270.5,
  satellites: 9,
}
/** 2026-11-20T12:00:00Z, when the tests' frames arrive. */
const LOGGED_IN = answer('9001', `ffffffff0000 ${new ByteWriter().u32le(1_795_176_000).toBuffer().toString('hex')}`)

export default {
  costly: {
    'many positions': packet({ type: '1001', content: STATE + 'ff' + POSITION.repeat(200) }),
    'nothing behind the type': Buffer.concat([packet({ type: '4002', content: '' }), Buffer.alloc(COSTLY_SIZE)]),
  },
  frames: [
    {
      title: 'a position in types that are not known, in one datagram',
      transport: 'udp',
      frames: [
        { frame: packet({ type: '40a1', content: `0102 0000 ${POSITION} 77` }), device: ID, fixes: [FIX] },
        { frame: packet({ version: 5, type: '4203', content: `00 ${POSITION}` }), device: ID, fixes: [FIX] },
        { frame: packet({ type: '40a1', content: `0102 0000 ${place('90')} 77` }), device: ID },
      ],
    },
    {
      title: 'OBD: login, positions, alarms, logout, heartbeat',
      frames: [
        {
          frame: packet({ type: '1001', content: `${STATE}01${POSITION}` }),
          device: ID,
          fixes: [{ ...FIX, said: OFF }],
          reply: LOGGED_IN,
        },
        {
          frame: packet({ type: '1001', content: `${STATE}00` }),
          device: ID,
          none: 'login',
          said: OFF,
          reply: LOGGED_IN,
        },
        {
          frame: packet({ type: '4001', content: `01${STATE}02${POSITION}${place('93')}` }),
          isTypical: true,
          device: ID,
          fixes: [
            { ...FIX, said: OFF },
            { ...FIX, valid: false, said: OFF },
          ],
        },
        {
          frame: packet({ type: '4007', content: `11223344${STATE}01${place('9c')}` }),
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41, said: OFF }],
          reply: answer('c007', '11223344'),
        },
        {
          frame: packet({ type: '4007', content: `11223344${STATE}00` }),
          device: ID,
          none: 'alarm',
          said: OFF,
          reply: answer('c007', '11223344'),
        },
        {
          frame: packet({ type: '401f', content: `0011223344${ON}01${POSITION}` }),
          device: ID,
          fixes: [{ ...FIX, said: RUNNING }],
        },
        { frame: packet({ type: '4009', content: `f5005c66${POSITION}` }), device: ID, fixes: [FIX] },
        {
          frame: packet({ type: '4007', content: `11223344${STATE}01${'00'.repeat(19)}` }),
          device: ID,
          none: 'alarm',
          said: OFF,
          reply: answer('c007', '11223344'),
        },
        { frame: packet({ type: '4009', content: `f5005c66${'00'.repeat(19)}` }), device: ID, none: 'no fix' },
        { frame: packet({ type: '1002', content: `${STATE}00` }), device: ID, none: 'logout', said: OFF },
        { frame: packet({ type: '1003', content: '' }), device: ID, none: 'heartbeat', reply: answer('9003') },
        { frame: packet({ type: '4002', content: STATE }), device: ID, none: 'OBD', said: OFF },
        { frame: packet({ type: '400b', content: `${ON}0102` }), device: ID, said: RUNNING },
        { frame: packet({ type: '4099', content: STATE }), device: ID },
        {
          frame: packet({
            type: '4007',
            content: `11223344${ON}01${POSITION}03 010700000000 001000000000 010e00000000`,
          }),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true, alarms: ['tow', 'power_cut'] } }],
          reply: answer('c007', '11223344'),
        },
        { frame: packet({ type: '4001', content: `01${ON}00` }), device: ID, none: 'no place', said: RUNNING },
        {
          frame: packet({ type: '4001', content: `01${ON}0a00${POSITION}` }),
          device: ID,
          fixes: [{ ...FIX, said: RUNNING }],
        },
        { frame: packet({ type: '1001', content: `${STATE}01` }), device: ID, said: OFF, reply: LOGGED_IN },
        {
          frame: packet({ type: '1001', content: STATE }),
          error: 'truncated',
          envelope: { device: ID, reply: LOGGED_IN },
        },
      ],
    },
    {
      title: 'trackers and the older envelope',
      frames: [
        {
          frame: packet({ version: 5, type: '4001', content: POSITION }),
          device: ID,
          fixes: [FIX],
          reply: answer('8001', '', 5),
        },
        {
          frame: packet({ version: 12, type: '4206', content: `0001${POSITION}` }),
          device: ID,
          fixes: [FIX],
          reply: answer('8206', '', 12),
        },
        {
          frame: packet({ version: 0, type: '2001', content: `11223344f5005c6602${POSITION}` }),
          device: ID,
          fixes: [FIX],
          reply: new ByteWriter()
            .ascii(`@@*\0${ID}\0\0\0\0\0`)
            .hex('100100000000ffffffffffffffff')
            .crc16le(crc16X25)
            .ascii('\r\n')
            .toBuffer(),
        },
        { frame: packet({ version: 0, type: '2002', content: `f5005c66${POSITION}` }), device: ID, fixes: [FIX] },
        {
          frame: packet({
            version: 2,
            type: '4001',
            content: `00${'7755'.repeat(12)}04${'00'.repeat(9)}01${POSITION}`,
          }),
          device: ID,
          fixes: [{ ...FIX, said: RUNNING }],
          reply: answer('8001', '', 2),
        },
        { frame: packet({ type: '4001', content: POSITION }), device: ID, fixes: [FIX] },
        { frame: packet({ version: 5, type: '4999', content: '' }), device: ID },
        { frame: packet({ version: 0, type: '2999', content: '' }), device: ID },
        { frame: packet({ version: 0, type: '1003', content: '' }), device: ID, none: 'heartbeat' },
        { frame: packet({ version: 4, type: '2001', content: '' }), device: ID },
        {
          frame: packet({ version: 5, type: '2001', content: `11223344f5005c6602${POSITION}` }),
          device: ID,
          fixes: [FIX],
        },
      ],
    },
  ],
  corrections: [
    {
      reason: 'no battery has 0, 0.6, 10 or 255 V while its tracker sends: what is read is no voltage',
      frames: ['castel-002', 'castel-012', 'castel-040', 'castel-041'],
      says: eachSaid((each) => ({ ...each, batteryV: undefined })),
    },
    {
      reason: 'these are two frames, each with the position',
      frames: ['castel-026'],
      says: ({ positions }) => ({ positions: [...positions, ...positions] }),
    },
  ],
} satisfies ProtocolCases
