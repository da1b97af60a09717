import { ByteWriter } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '867543034731852'
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: -52.525,
  longitude: 13.41,
  speed: 10,
  heading: 270,
  satellites: 9,
  said: { ignition: true, external_voltage: 12.2, battery_voltage: 4.1 },
}

export default {
  costly: { 'a position and more': frame(0x80, place('f8') + '00'.repeat(65_000)) },
  frames: [
    {
      title: 'positions',
      frames: [
        { frame: frame(0x80, place('f8')), device: IMEI, fixes: [FIX], reply: answer(0x80, place('f8')) },
        {
          frame: frame(0x80, place('78')),
          device: IMEI,
          fixes: [{ ...FIX, valid: false }],
          reply: answer(0x80, place('78')),
        },
        {
          frame: frame(0x80, place('f8').replace('217ffc50', '21fffc50')),
          device: IMEI,
          fixes: [{ ...FIX, said: { ...FIX.said, ignition: false } }],
          reply: answer(0x80, place('f8').replace('217ffc50', '21fffc50')),
        },
        {
          frame: frame(0x80, place('f8').replace('00000270', '0000ffff')),
          device: IMEI,
          fixes: [{ ...FIX, heading: undefined }],
          reply: answer(0x80, place('f8').replace('00000270', '0000ffff')),
        },
        { frame: frame(0x80, '2405'), error: 'truncated', envelope: { device: IMEI, reply: answer(0x80, '2405') } },
        { frame: frame(0x90, '00'), device: IMEI, reply: answer(0x90, '00') },
        { frame: frame(0x82, place('f8')), device: IMEI, fixes: [FIX], reply: answer(0x82, place('f8')) },
        { frame: frame(0x82, '00'.repeat(32)), device: IMEI, reply: answer(0x82, '00'.repeat(32)) },
      ],
    },
  ],
} satisfies ProtocolCases

function place(flags: string): string {
  const w = new ByteWriter()
    .hex('240501101530')
    .u32(0x8000_0000 + 52.525 * 1_800_000)
    .u32(13.41 * 1_800_000)
  return w.hex('00000270').hex(flags).hex('000748217ffc50').u8(9).hex('29007a28').u8(36).toBuffer().toString('hex')
}

function frame(type: number, content: string): Buffer {
  const w = new ByteWriter()
    .u16(0x5858)
    .u8(type)
    .u16((10 + content.length / 2) & 0xffff)
    .hex(`0${IMEI}`)
    .hex(content)
  return w.xor().u8(0x0d).toBuffer()
}

function answer(type: number, content: string): Buffer {
  const w = new ByteWriter()
    .hex('5858210005')
    .u8(frame(type, content).at(-2) ?? 0)
    .u8(type)
    .u8(0)
  return w.xor().u8(0x0d).toBuffer()
}
