import { crc16Arc, kmh } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

function packet(kind: number, content: Buffer): Buffer {
  const length = content.length < 0x8000 ? u(2, content.length) : u(4, 0x8000_0000 + content.length)
  const covered = Buffer.concat([bytes('2424'), Buffer.of(kind), u(2, 7), length, content])
  return Buffer.concat([covered, u(2, crc16Arc(covered))])
}

const OK = bytes('4040 00 0007')
const LOGIN = { device: '352093086403655', none: 'login', reply: OK, refusal: bytes('4040 01 0007') }
const ID = u(8, 352093086403655)
const TIME = u(4, 1714558530)
const LONGITUDE = Buffer.alloc(4)
LONGITUDE.writeInt32BE(-13_410_000)
const POSITION = Buffer.concat([bytes('01'), u(4, 52_525_000), LONGITUDE, bytes('0024 010e 0022 08 005a')])
const VALUES = bytes('00 03 05 22 00000001 8105 08 41200000 06 0a 616200')
const PICTURE = Buffer.concat([bytes('03 00 0002 01 6100'), bytes('ffd8')])
const CELLS = bytes('04 01 0106 0001 0002 0003 0004 0005')
const IO = bytes('02 00000001 00000000')
const message = (...records: readonly Buffer[]) => Buffer.concat([TIME, Buffer.of(records.length), ...records])
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34,
  speed: kmh(36),
  heading: 270,
  hdop: 0.9,
  satellites: 8,
}

export default {
  costly: {
    'messages without sub-records': packet(1, Buffer.alloc(COSTLY_SIZE - 100)),
    'values without content': packet(1, Buffer.concat([message(bytes('00 ffff')), Buffer.alloc(COSTLY_SIZE - 100)])),
  },
  frames: [
    {
      title: 'logins with numbers and text, and messages',
      frames: [
        { frame: packet(0, Buffer.concat([bytes('01 30'), ID])), ...LOGIN },
        { frame: packet(0, Buffer.concat([bytes('01 03'), ID])), ...LOGIN },
        {
          frame: packet(0, Buffer.concat([bytes('01 34'), ID, Buffer.from('secret\0')])),
          ...LOGIN,
          secret: 'secret',
        },
        { frame: packet(0, Buffer.concat([bytes('01 40'), Buffer.from('van-12\0')])), ...LOGIN, device: 'van-12' },
        {
          frame: packet(1, Buffer.concat([message(VALUES, POSITION, IO), message(PICTURE, CELLS), message(POSITION)])),
          fixes: [FIX, FIX],
          reply: OK,
        },
        {
          frame: packet(1, Buffer.concat([message(POSITION), message(bytes('05 01 00'))])),
          fixes: [FIX],
          unreadable: [1],
          reply: OK,
        },
        { frame: packet(1, message(bytes('05 01 00'))), fixes: [], reply: OK },
        { frame: packet(1, message(CELLS)), none: 'no place', reply: OK },
        { frame: packet(1, message(...Array.from({ length: 200 }, () => PICTURE))), none: 'no place', reply: OK },
        { frame: bytes('2424 02 0007'), none: 'heartbeat', reply: OK },
      ],
    },
  ],
} satisfies ProtocolCases
