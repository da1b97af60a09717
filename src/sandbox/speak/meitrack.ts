/*
 * Meitrack T333 and similar devices with binary reports (CCC). Frames as drawn in protocols/meitrack; a server answers how
 * many records it has taken, behind the letter of the frame.
 */
import { ByteWriter, type Fix, sum8 } from '../../../protocols/kit/index.ts'
import type { StreamSpeech } from './speech.ts'
import { until } from './text-speech.ts'
import { hex } from './write.ts'

/** Records of fixed length, without a login. */
export const meitrack: StreamSpeech = {
  name: 'meitrack',
  protocol: 'meitrack',
  transport: 'tcp',
  maxFixes: 15,
  packet(fixes, { id, serial }) {
    const letter = String.fromCharCode(FIRST_LETTER + (serial % LETTERS))
    const answered = `,${id},CCC,${fixes.length}*`
    return {
      bytes: frame(letter, id, Buffer.concat([HEAD, ...fixes.map(recordOf)])),
      accepted(answer) {
        const text = answer.toString('latin1')
        return text.startsWith(`@@${letter}`) && text.includes(`,${id},CCC,`) ? text.includes(answered) : undefined
      },
    }
  },
  answers: until('\n'),
}

const FIRST_LETTER = 'A'.charCodeAt(0)
const LETTERS = 57
const RECORD_BYTES = 52
/** Version, length of a record, how many records are left. */
const HEAD = new ByteWriter().u16(0).u16le(RECORD_BYTES).u32le(0).toBuffer()

/** The length counts from the comma after it to the end. */
function frame(letter: string, id: string, records: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(`,${id},CCC,`), records, Buffer.from('*')])
  const covered = Buffer.concat([Buffer.from(`$$${letter}${content.length + 4}`), content])
  return Buffer.concat([covered, Buffer.from(`${hex(sum8(covered), 2)}\r\n`)])
}

/** Little-endian. Behind the altitude: mileage, run time, cell, state and five inputs. */
function recordOf(fix: Fix): Buffer {
  return new ByteWriter()
    .u8(BY_TIME)
    .u32le(Math.round(fix.latitude * 1e6))
    .u32le(Math.round(fix.longitude * 1e6))
    .u32le((fix.time - EPOCH) / 1000)
    .bytes([1, fix.satellites ?? 0, 24])
    .u16le(Math.round((fix.speed ?? 0) * 3.6))
    .u16le(Math.round(fix.heading ?? 0))
    .u16le(Math.round((fix.hdop ?? 1) * 10))
    .u16le(Math.round(fix.altitude ?? 0))
    .bytes(Buffer.alloc(8))
    .hex('06010100f128c571')
    .bytes(Buffer.alloc(12))
    .toBuffer()
}

const BY_TIME = 35
const EPOCH = Date.UTC(2000, 0, 1)
