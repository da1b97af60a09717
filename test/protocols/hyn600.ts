import { ByteWriter } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '861076082252402'
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: -12,
  speed: 10,
  heading: 270,
  hdop: 2,
}

export default {
  costly: { 'positions of nothing': report('011e', `0310666401ffff${'00'.repeat(65_000)}`) },
  frames: [
    {
      title: 'positions, a status, an answer to a command',
      frames: [
        {
          frame: report('011e', `0310666401ff02${place('13')}0d110809${place('01')}00cc0008`),
          device: IMEI,
          fixes: [FIX, { ...FIX, valid: false }],
        },
        { frame: report('010c', `10336400fe${place('03')}0d110809`), device: IMEI, fixes: [FIX] },
        { frame: report('010c', `10336400fe${'00'.repeat(23)}`), device: IMEI, none: 'no fix' },
        { frame: report('0004', '0000'), device: IMEI, none: 'status' },
        { frame: report('2104', '0000'), device: IMEI, fixes: [] },
        { frame: framed('+ACK:', '5349532c07'), device: IMEI, none: 'command answer' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'all of it is 0, its year too: there is no position',
      frames: ['hyn600-003'],
      says: { positions: [] },
    },
  ],
} satisfies ProtocolCases

function place(flags: string): string {
  const w = new ByteWriter()
    .hex(flags)
    .u8(2)
    .u16(36)
    .u16(270)
    .u16(-12 & 0xffff)
    .u32(52_525_000)
    .u32(-13_410_000)
  return w.u16(2024).hex('05010a0f1e').toBuffer().toString('hex')
}

function report(values: string, content: string): Buffer {
  return framed('+RPT:', `22030201000000${values}${content}07ea05080a08130766`)
}

function framed(start: string, content: string): Buffer {
  const w = new ByteWriter()
    .ascii(start)
    .u16((16 + content.length / 2) & 0xffff)
    .hex('560a4c0816342802')
  return w.hex(content).ascii('#').toBuffer()
}
