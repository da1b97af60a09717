import { ByteWriter, crc16Kermit } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '013227001564487'
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34.5,
  heading: 270.5,
  satellites: 9,
  speed: 10,
  hdop: 0.9,
  said: { ignition: true, external_voltage: 12.485 },
}
/** Elements of a record: the first one of several parts, and the next. */
const FIRST = '01 000501 01 001d30c5 00 01 008e0000000000000001'
const MOVING = '02 00ad01 019900 01 001e0ff3 00 00'
const ACK = Buffer.from('0002640113bc', 'hex')

export default {
  costly: {
    'records without content': frame(1, `00ff${'00'.repeat(65_000)}`),
    'extended records without content': frame(0x44, `00ff${'00'.repeat(65_000)}`),
  },
  frames: [
    {
      title: 'records over UDP',
      transport: 'udp',
      frames: [{ frame: frame(1, `0001${record()}`), device: IMEI, fixes: [FIX], reply: ACK }],
    },
    {
      title: 'identification, heartbeat, records',
      frames: [
        { frame: frame(0x0f, '4f4244'), device: IMEI, none: 'login', reply: Buffer.from('00027301cb25', 'hex') },
        { frame: frame(0x10, ''), device: IMEI, none: 'heartbeat', reply: Buffer.from('00027401862d', 'hex') },
        {
          frame: frame(1, `0003${record()}${record('80000000')}${record()}`),
          device: IMEI,
          fixes: [FIX, FIX],
          reply: ACK,
        },
        { frame: frame(1, `0001${record()}00ff`), device: IMEI, fixes: [FIX], reply: ACK },
        {
          frame: frame(1, `0002${record().replace('015969aa', 'ffde69aa')}${record().replace('015969aa', '800069aa')}`),
          device: IMEI,
          fixes: [
            { ...FIX, altitude: -3.4 },
            { ...FIX, altitude: undefined },
          ],
          reply: ACK,
        },
        { frame: frame(1, `0001${record()}${record()}`), error: 'malformed' },
        {
          frame: frame(1, `0002${record('80000000').replace('30c5', '2ee0')}${record('80000000')}`),
          device: IMEI,
          none: 'no fix',
          said: FIX.said,
          reply: ACK,
        },
        {
          frame: frame(0x44, `0002${extended('10', FIRST, '80000000')}${extended('11', MOVING, '80000000')}`),
          device: IMEI,
          none: 'no fix',
          said: { ignition: false, moving: true, external_voltage: 12.485, battery_voltage: 4.083 },
          reply: ACK,
        },
        {
          frame: frame(0x44, `0003${extended('10')}${extended('11')}${extended('00')}`),
          device: IMEI,
          fixes: [FIX, FIX],
          reply: ACK,
        },
        {
          frame: frame(1, `0001${record().replace('0202050', '0402050').replace('1b0c', '1b0cad01')}`),
          error: 'truncated',
          envelope: { device: IMEI, reply: ACK },
        },
        {
          frame: frame(0x44, `0002${extended('10')}${extended('11', MOVING)}`),
          device: IMEI,
          fixes: [
            { ...FIX, said: { ignition: false, moving: true, external_voltage: 12.485, battery_voltage: 4.083 } },
          ],
          reply: ACK,
        },
        { frame: frame(0x07, '44494e31'), device: IMEI, none: 'command answer' },
        { frame: frame(0x25, '00'), device: IMEI },
        {
          frame: frame(0x09, `01 00 66321642 f801d1e0 1f4f2a50 01 5030313233`.replaceAll(' ', '')),
          device: IMEI,
          fixes: [{ time: '2024-05-01T10:15:30Z', latitude: 52.5281872, longitude: -13.4098464 }],
          reply: Buffer.from('00026d01c4a4', 'hex'),
        },
        { frame: frame(0x09, '0100'), device: IMEI, fixes: [], reply: Buffer.from('00026d01c4a4', 'hex') },
      ],
    },
  ],
  corrections: [
    {
      reason: 'a message without a fix says one state: that of its last record',
      frames: ['ruptela-002'],
      says: ({ positions }) => ({ positions: positions.map((each) => ({ ...each, said: positions.at(-1)?.said })) }),
    },
  ],
} satisfies ProtocolCases

function frame(type: number, payload: string): Buffer {
  const w = new ByteWriter()
    .u16(9 + payload.length / 2)
    .u64(Number(IMEI))
    .u8(type)
    .hex(payload)
  return w.crc16(crc16Kermit, 2).toBuffer()
}

function head(): ByteWriter {
  return new ByteWriter().u32(Date.UTC(2024, 4, 1, 10, 15, 30) / 1000)
}

function place(w: ByteWriter, longitude?: string): ByteWriter {
  if (longitude === undefined) w.u32(-134_100_000)
  else w.hex(longitude)
  return w.u32(525_250_000).u16(345).u16(27_050).u8(9).u16(36).u8(9)
}

function record(longitude?: string): string {
  const w = place(head().u8(0).u8(1), longitude).hex('07 02 0501 1b0c 01 1d30c5 01 4100000001 00'.replaceAll(' ', ''))
  return w.toBuffer().toString('hex')
}

function extended(part: string, elements = FIRST, longitude?: string): string {
  const w = place(head().u8(0).hex(part).u8(1), longitude).hex(`0009${elements}`.replaceAll(' ', ''))
  return w.toBuffer().toString('hex')
}
