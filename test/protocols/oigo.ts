import { ByteWriter } from '../../protocols/kit/index.ts'
import { eachSaid, type ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '353782062836511'
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, heading: 270, satellites: 9 }
const NEW = { ...FIX, hdop: 0.9, speed: 10, altitude: -12 }

export default {
  costly: { 'a position and more': Buffer.concat([older(), Buffer.alloc(65_000)]) },
  frames: [
    {
      title: 'positions',
      frames: [
        { frame: newer('04', ''), device: IMEI, fixes: [NEW] },
        { frame: newer('00', 'e5010a0f00'), device: IMEI, fixes: [NEW] },
        {
          frame: Buffer.concat([newer('00', 'e5010a0f00').subarray(0, -2), Buffer.from('1135de106e05f5', 'hex')]),
          device: IMEI,
          fixes: [{ ...NEW, said: { external_voltage: 13.79, battery_voltage: 4.206 } }],
        },
        {
          frame: Buffer.concat([newer('04', '').subarray(0, -2), Buffer.from('63101604fd', 'hex')]),
          device: IMEI,
          fixes: [{ ...NEW, said: { battery_voltage: 4.118 } }],
        },
        { frame: newer('04', '').subarray(0, 30), error: 'truncated', envelope: { device: IMEI } },
        { frame: newer('09', '0102'), device: IMEI, fixes: [NEW] },
        { frame: newer('09', '').subarray(0, 30), device: IMEI, fixes: [] },
        { frame: older('e0000a0f'), error: 'malformed' },
        {
          frame: older(),
          device: IMEI,
          fixes: [{ ...FIX, speed: 13.4112, altitude: 30.48, said: { external_voltage: 13.9 } }],
        },
      ],
    },
  ],
  corrections: [
    {
      reason: '4.118 V is the battery of the tracker',
      frames: ['oigo-000'],
      says: eachSaid(({ powerV, ...rest }) => ({ ...rest, batteryV: powerV })),
    },
  ],
} satisfies ProtocolCases

function newer(kind: string, before: string): Buffer {
  const w = new ByteWriter().hex('7e00420000').hex(`0${IMEI}`).hex(kind).hex('0000ffff02d0').hex(before)
  w.hex('e5010a0f1e')
    .u32(142_525_000)
    .u32(166_590_000)
    .u8(0x19)
    .u8(9)
    .u8(36)
    .u16(270)
    .u16(-12 & 0xffff)
  return w.hex('3000').toBuffer()
}

function older(date = 'e5010a0f'): Buffer {
  const w = new ByteWriter().u8(1).hex(`0${IMEI}`).hex('0334020127142622').hex(date).u32(5_231_500)
  return w.u32(-1_324_600).u16(100).u16(270).u8(30).hex('8b4c').u8(30).hex('116a13').u8(9).hex('0000').toBuffer()
}
