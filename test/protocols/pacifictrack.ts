import { ByteWriter } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '352753090000911'
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, heading: 270, speed: 10 }

export default {
  costly: { 'values of nothing': message('8180'.repeat(32_000)) },
  frames: [
    {
      title: 'positions, a status',
      frames: [
        { frame: message(`028088${IMEI}0${position('18')}8181b2`), device: IMEI, fixes: [FIX] },
        { frame: message(`008088${IMEI}0${position('08')}`), device: IMEI, fixes: [{ ...FIX, valid: false }] },
        { frame: message('8181b2'), none: 'no place' },
        {
          frame: message(`008088${IMEI}0${position('18')}a0834dd19f`),
          device: IMEI,
          fixes: [{ ...FIX, said: { external_voltage: 12.45, battery_voltage: 4.15 } }],
        },
      ],
    },
  ],
} satisfies ProtocolCases

function position(flags: string): string {
  const w = new ByteWriter().hex(flags).hex('45010a0f1e').u32(142_525_000).u32(166_590_000).hex('10e1680003')
  return `9093${w.toBuffer().toString('hex')}`
}

function message(segments: string): Buffer {
  const length = segments.length / 2
  const w = new ByteWriter()
    .hex('fb80')
    .u8((length >> 14) & 0x7f)
    .u8((length >> 7) & 0x7f)
  return w
    .u8((length & 0x7f) | 0x80)
    .hex(segments)
    .toBuffer()
}
