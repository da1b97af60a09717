import { ByteWriter, crc16CcittFalse } from '../../protocols/kit/index.ts'
import { eachPosition, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = 966_001
const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 52.525,
  longitude: 13.41,
  altitude: 120,
  speed: 15,
  heading: 60.5,
  satellites: 9,
}
const SINCE_2010 = Date.parse(FIX.time) / 1000 - Date.UTC(2010, 0, 1) / 1000
/** Of the fixes of a frame, by their speeds. */
const COURSES: Readonly<Record<number, number>> = { 48: 60.5, 56: 61.5, 66: 63.6 }
const POWER = { external_voltage: 14.52, battery_voltage: 4.13 }
const STATES = '030cac6567052c06ffffffff'

export default {
  costly: {
    'what unpacks to much': frame(0x54, `0800${'08ff01'.repeat(600)}`, 0x5800),
    entries: frame(0x54, '0000'.repeat(1000)),
  },
  frames: [
    {
      title: 'a question, positions, packed and not',
      frames: [
        { frame: frame(0x01, ''), device: String(ID), none: 'login', reply: answer() },
        { frame: frame(0x54, `${record(0)}${STATES}`), device: String(ID), fixes: [{ ...FIX, said: POWER }] },
        {
          frame: frame(0x94, `e7${record(0)}${STATES}e70225${timeOf(1)}e71325`, 0x5800),
          device: String(ID),
          fixes: [
            { ...FIX, said: POWER },
            { ...FIX, time: '2026-11-20T06:30:16Z' },
          ],
        },
        { frame: frame(0x54, STATES), device: String(ID), none: 'no place' },
        { frame: frame(0x57, STATES), device: String(ID) },
        { frame: frame(0x94, '08080405', 0x5800), error: 'malformed' },
        { frame: frame(0x54, `${record(0)}${STATES}`).fill(1, 20, 21), error: 'checksum' },
        { frame: '!', error: 'unsupported' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'no part of a record is known to say that the fix is invalid, and these have 17 and 18 satellites',
      says: eachPosition(() => ({ valid: true })),
    },
    {
      reason: 'the distances between the fixes of one frame fit km/h and the heading',
      says: eachPosition(({ speedKnots, course }) => ({
        speedKnots: speedKnots / 1.852,
        course: COURSES[speedKnots] ?? course,
      })),
    },
  ],
} satisfies ProtocolCases

function frame(type: number, content: string, flags = 0x1800): Buffer {
  const w = new ByteWriter()
    .u8(0x53)
    .u16le(flags | (content.length / 2))
    .u32le(ID)
    .u8(type)
    .hex(content)
  return w.crc16le(crc16CcittFalse, 1).toBuffer()
}

function record(later: number): string {
  const w = new ByteWriter().hex('0700').hex(timeOf(later)).hex('5e2f090e04')
  w.u32le(Math.round((FIX.latitude / 90) * 2 ** 32)).u32le(Math.round((FIX.longitude / 180) * 2 ** 32))
  return w
    .u16le(605)
    .u16le(54 | (9 << 11))
    .u16le(120)
    .toBuffer()
    .toString('hex')
}

function timeOf(later: number): string {
  return new ByteWriter()
    .u32le(SINCE_2010 + later)
    .toBuffer()
    .toString('hex')
}

function answer(): Buffer {
  return new ByteWriter().hex('530038').u32le(ID).hex('020100').crc16le(crc16CcittFalse, 1).toBuffer()
}
