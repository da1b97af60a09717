/*
 * Terminals of JT/T 808-2013 that have registered before: they authenticate with the code that they were given, which is
 * their own number. Frames and positions as drawn in protocols/jt808. A server answers each message by its serial number.
 */
import { ByteWriter, escaped, type Fix } from '../../../protocols/kit/index.ts'
import type { Packet, StreamSpeech } from './speech.ts'

/** An authentication, then one position, or a batch of them. */
export const jt808: StreamSpeech = {
  name: 'jt808',
  protocol: 'jt808',
  transport: 'tcp',
  maxFixes: 20,
  idDigits: 12,
  login: (id) => message(AUTHENTICATION, { id, serial: 0 }, Buffer.from(id)),
  packet: (fixes, sender) =>
    fixes.length === 1 ? message(POSITION, sender, positionOf(fixes[0])) : message(BATCH, sender, batchOf(fixes)),
  answers: (bytes) => bytes.indexOf(FLAG, 1) + 1,
}

const FLAG = 0x7e
const frames = escaped({
  flag: FLAG,
  escape: 0x7d,
  codes: new Map([
    [1, 0x7d],
    [2, FLAG],
  ]),
})

const AUTHENTICATION = 0x0102
const POSITION = 0x0200
const BATCH = 0x0704
const ANSWER = '8001'

/** `type length id serial body checksum`; the answer: `8001 length id serial`, then our serial, our type and 0. */
function message(type: number, { id, serial }: { id: string; serial: number }, body: Buffer): Packet {
  const content = new ByteWriter().u16(type).u16(body.length).hex(id).u16(serial).bytes(body).xor().toBuffer()
  const answered = new ByteWriter().u16(serial).u16(type).toBuffer()
  const isOurs = (said: Buffer) => said.toString('hex', 0, 2) === ANSWER && said.subarray(12, 16).equals(answered)
  return {
    bytes: frames.wrap(content),
    accepted(answer) {
      const said = frames.content(answer)
      return isOurs(said) ? said[16] === 0 : undefined
    },
  }
}

/** Number of positions, their kind (0: in order of measurement), and each after its length. */
function batchOf(fixes: readonly Fix[]): Buffer {
  const w = new ByteWriter().u16(fixes.length).u8(0)
  for (const position of fixes.map(positionOf)) w.u16(position.length).bytes(position)
  return w.toBuffer()
}

/** No alarm, ignition on, signal strength and satellites. */
function positionOf(fix: Fix): Buffer {
  const status = IGNITION | FIXED | (fix.latitude < 0 ? SOUTH : 0) | (fix.longitude < 0 ? WEST : 0)
  return new ByteWriter()
    .u32(0)
    .u32(status)
    .u32(Math.round(Math.abs(fix.latitude) * 1e6))
    .u32(Math.round(Math.abs(fix.longitude) * 1e6))
    .u16(Math.round(fix.altitude ?? 0))
    .u16(Math.round((fix.speed ?? 0) * 36))
    .u16(Math.round(fix.heading ?? 0))
    .bcdTime(fix.time + GMT_8)
    .bytes([0x30, 1, 24, 0x31, 1, fix.satellites ?? 0])
    .toBuffer()
}

const IGNITION = 1
const FIXED = 2
const SOUTH = 4
const WEST = 8
const GMT_8 = 8 * 3_600_000
