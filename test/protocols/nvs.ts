import { ByteWriter, crc16Arc } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '357040060017824'
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: -12,
  heading: 270,
  satellites: 9,
  speed: 10,
}

export default {
  costly: { 'records of zeros': data(255, '00'.repeat(60_000)) },
  frames: [
    {
      title: 'a login and records',
      frames: [
        { frame: `\0\x12${IMEI}1.8`, device: IMEI, none: 'login', reply: 'OK' },
        { frame: data(2, record() + record()), device: IMEI, fixes: [FIX, FIX] },
        { frame: data(1, record().slice(0, -4)), error: 'truncated', envelope: { device: IMEI } },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the frames name another device than the login that the peer goes by',
      frames: ['nvs-002', 'nvs-004'],
      says: ({ positions }) => ({
        deviceId: IMEI,
        positions: positions.map((position) => ({ ...position, deviceId: IMEI })),
      }),
    },
  ],
} satisfies ProtocolCases

function data(count: number, records: string): Buffer {
  const content = new ByteWriter().u64(Number(IMEI)).u8(2).u8(count).hex(records).toBuffer()
  return new ByteWriter().hex('cccccccc').u16(content.length).bytes(content).u16(crc16Arc(content)).toBuffer()
}

function record(): string {
  const w = new ByteWriter()
    .u32(Date.parse(FIX.time) / 1000)
    .u8(31)
    .u32(-134_100_000)
    .u32(525_250_000)
  w.u16(-12 & 0xffff)
    .u16(270)
    .u8(9)
    .u16(36)
    .hex('010300')
  return w.hex('0208011503014231da01500000000000').toBuffer().toString('hex')
}
