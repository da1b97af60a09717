import { ByteWriter, crc16CcittFalse } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'
import { eachSaid } from '../support/vectors/corrections.ts'

const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: 10,
  heading: 270,
  satellites: 9,
  altitude: -12,
}
const SECONDS = (Date.parse(FIX.time) - Date.UTC(2009, 0, 1)) / 1000

export default {
  costly: {
    'records without content': frame(0x86, `${'00'.repeat(9)}${'0000'.repeat(32_000)}`),
    'a record of groups': frame(0x86, `${'00'.repeat(9)}00fa${'1314'.repeat(32_000)}`),
    escapes: Buffer.from(`c08600${'dbdc'.repeat(32_000)}`, 'hex'),
  },
  frames: [
    {
      title: 'an identification, archives',
      frames: [
        {
          frame: frame(0x80, '61a6191534010000'),
          device: '354002529',
          none: 'login',
          reply: Buffer.from('c0850400000000003125', 'hex'),
        },
        {
          frame: archive(
            record(SECONDS, SECONDS - 60, field(4, 6)),
            record(0, SECONDS, field(4, 7) + field(8, 242) + field(9, 44)),
          ),
          fixes: [
            { ...FIX, said: { ignition: false } },
            { ...FIX, said: { ignition: true, external_voltage: 24.2, battery_percent: 44 } },
          ],
        },
        { frame: archive(bytesOf(`13${field(1, SECONDS)}142b0800100018002000280030002c`)), none: 'no place' },
        { frame: archive(bytesOf('0a02db0b'), bytesOf('0a01c0')), none: 'no place' },
        { frame: frame(0x86, ''), none: 'status' },
        { frame: frame(0x93, '00') },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the record has no power and no battery: 0 is what a number that is absent defaults to',
      frames: ['omnicomm-003'],
      says: eachSaid((each) => ({ ...each, powerV: undefined, batteryPercent: undefined })),
    },
    {
      reason: 'a place of zeros without satellites and without a time is none',
      frames: ['omnicomm-001'],
      says: { positions: [] },
    },
    {
      reason: 'a place without a time of its own has that of its record',
      frames: ['omnicomm-003'],
      says: ({ positions: [first, ...others] }) => ({
        positions: [{ ...first, time: '2019-12-16T12:10:29.000Z' }, ...others],
      }),
    },
  ],
} satisfies ProtocolCases

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex, 'hex')
}

function frame(type: number, content: string): Buffer {
  const w = new ByteWriter()
    .u8(type)
    .u16le((content.length / 2) & 0xffff)
    .hex(content)
    .crc16(crc16CcittFalse)
  const pairs = [...w.toBuffer()].flatMap((byte) =>
    byte === 0xc0 ? [0xdb, 0xdc] : byte === 0xdb ? [0xdb, 0xdd] : [byte],
  )
  return Buffer.from([0xc0, ...pairs])
}

function archive(...records: Buffer[]): Buffer {
  const w = new ByteWriter().hex('cd1400002273231400')
  for (const each of records) w.u16le(each.length).bytes(each)
  return frame(0x86, w.toBuffer().toString('hex'))
}

function record(own: number, ofRecord: number, general: string): Buffer {
  const place = [1_050_500_000, 268_199_999, 360, 270, 9, 239, own].map((value, i) => field(i + 1, value)).join('')
  return bytesOf(`080113${field(1, ofRecord)}100a${general}142b${place}2c0a01db`)
}

function field(number: number, value: number): string {
  const bytes = [number * 8]
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest]).toString('hex')
}
