import { ByteWriter } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '861076082252402'
const BATTERY = { ignition: false, battery_voltage: 4.147, battery_percent: 100 }
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
          fixes: [
            FIX,
            { ...FIX, valid: false, said: { ignition: true, battery_voltage: 4.198, battery_percent: 100 } },
          ],
        },
        {
          frame: report('010c', `10336400fe${place('03')}0d110809`),
          device: IMEI,
          fixes: [{ ...FIX, said: BATTERY }],
        },
        { frame: report('010c', `10336400fe${'00'.repeat(23)}`), device: IMEI, none: 'no fix', said: BATTERY },
        {
          frame: report('011e', `031033640100 01 ${place('01')} 00cc000881500006e10d18 000004a5 04d0 22`, '0e01'),
          device: IMEI,
          fixes: [
            {
              ...FIX,
              valid: false,
              said: { ...BATTERY, external_voltage: 12.32, moving: true, alarms: ['power_cut'] },
            },
          ],
        },
        {
          frame: report('010c', `1033640101 ${place('01')} 00001015 0312 11`, '0700'),
          device: IMEI,
          fixes: [
            {
              ...FIX,
              valid: false,
              said: { ...BATTERY, ignition: true, external_voltage: 7.86, moving: false, alarms: ['accident'] },
            },
          ],
        },
        { frame: report('011e', `031033640100 02 ${place('01')}`), error: 'truncated', envelope: { device: IMEI } },
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

function report(values: string, content: string, event = '0100'): Buffer {
  return framed('+RPT:', `220302${event}0000${values}${content.replaceAll(' ', '')}07ea05080a08130766`)
}

function framed(start: string, content: string): Buffer {
  const w = new ByteWriter()
    .ascii(start)
    .u16((16 + content.length / 2) & 0xffff)
    .hex('560a4c0816342802')
  return w.hex(content).ascii('#').toBuffer()
}
