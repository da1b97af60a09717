/* Meiligao VT310. Frames as drawn in protocols/meiligao: the login is answered, reports are not. */
import { ByteWriter, crc16CcittFalse, type Fix } from '../../../protocols/kit/index.ts'
import type { StreamSpeech } from './speech.ts'
import { fixWords, hex } from './write.ts'

/** A login, then a report for each fix. */
export const meiligao: StreamSpeech = {
  name: 'meiligao',
  protocol: 'meiligao',
  transport: 'tcp',
  maxFixes: 20,
  idDigits: 14,
  isUnanswered: true,
  login: (id) => ({
    bytes: frame(id, LOGIN),
    accepted: (answer) => (answer.toString('hex', 11, 13) === LOGIN_ANSWER ? answer[13] === 1 : undefined),
  }),
  packet: (fixes, { id }) => ({ bytes: Buffer.concat(fixes.map((fix) => frame(id, REPORT, reportOf(fix)))) }),
  answers: (bytes) => (bytes.length < 4 || bytes.length < bytes.readUInt16BE(2) ? 0 : bytes.readUInt16BE(2)),
}

const LOGIN = 0x5000
const LOGIN_ANSWER = '4000'
const REPORT = 0x9955

/** `$$ length id type data crc 0D0A`; the length is that of all. */
function frame(id: string, type: number, data = ''): Buffer {
  const w = new ByteWriter()
    .ascii('$$')
    .u16(17 + data.length)
    .hex(id)
    .u16(type)
    .ascii(data)
  return w.crc16(crc16CcittFalse).ascii('\r\n').toBuffer()
}

/** A sentence, then HDOP, altitude, state, inputs, cell, signal, mileage and satellites. */
function reportOf(fix: Fix): string {
  const { hms, place, knots, course, dmy, hdop, altitude, satellites } = fixWords(fix)
  const sentence = `${hms}.000,A,${place},${knots},${course.toFixed(2)},${dmy},,,A*00`
  const quality = `${hdop.toFixed(1)}|${altitude.toFixed()}`
  return `${sentence}|${quality}|0400|0000,0000|0106000128F171C5|18|00000000|${hex(satellites, 2)}`
}
