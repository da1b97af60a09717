/*
 * Sinocastel IDD-213 (OBD). Packets as drawn in protocols/castel. Positions have no answer, so that a heartbeat follows them:
 * with its answer everything before it has arrived.
 */
import { ByteWriter, crc16X25, type Fix } from '../../../protocols/kit/index.ts'
import type { Packet, StreamSpeech } from './speech.ts'

/** A login, then positions in one packet, and a heartbeat. */
export const castel: StreamSpeech = {
  name: 'castel',
  protocol: 'castel',
  transport: 'tcp',
  maxFixes: 20,
  login: (id) => asking(packet(id, LOGIN, Buffer.concat([STATE, Buffer.of(0)])), LOGIN_ANSWER),
  packet(fixes, { id }) {
    const positions = Buffer.concat([Buffer.of(0), STATE, Buffer.of(fixes.length), ...fixes.map(positionOf)])
    return asking(Buffer.concat([packet(id, POSITIONS, positions), packet(id, HEARTBEAT)]), HEARTBEAT_ANSWER)
  },
  answers: (bytes) => (bytes.length < 4 || bytes.length < bytes.readUInt16LE(2) ? 0 : bytes.readUInt16LE(2)),
}

const LOGIN = 0x1001
const LOGIN_ANSWER = '9001'
const POSITIONS = 0x4001
const HEARTBEAT = 0x1003
const HEARTBEAT_ANSWER = '9003'
const OBD = 0x04
/** The status block of a vehicle that reports nothing about itself. */
const STATE = Buffer.alloc(34)

function asking(bytes: Buffer, answerType: string): Packet {
  return { bytes, accepted: (answer) => answer.toString('hex', 25, 27) === answerType || undefined }
}

/** `4040 length version id type content crc 0D0A`; the length is that of all. */
function packet(id: string, type: number, content: Uint8Array = Buffer.alloc(0)): Buffer {
  const w = new ByteWriter()
    .ascii('@@')
    .u16le(31 + content.length)
    .u8(OBD)
  return w.ascii(id.padEnd(20, '\0')).u16(type).bytes(content).crc16le(crc16X25).ascii('\r\n').toBuffer()
}

/** Milliseconds of arc, cm/s, 0.1 degrees; a fix in three dimensions. */
function positionOf(fix: Fix): Buffer {
  const at = new Date(fix.time)
  const flags =
    (fix.longitude < 0 ? 0 : 1) | (fix.latitude < 0 ? 0 : 2) | (3 << 2) | (Math.min(15, fix.satellites ?? 0) << 4)
  return new ByteWriter()
    .bytes([at.getUTCDate(), at.getUTCMonth() + 1, at.getUTCFullYear() % 100])
    .bytes([at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()])
    .u32le(Math.round(Math.abs(fix.latitude) * 3_600_000))
    .u32le(Math.round(Math.abs(fix.longitude) * 3_600_000))
    .u16le(Math.round((fix.speed ?? 0) * 100))
    .u16le(Math.round((fix.heading ?? 0) * 10))
    .u8(flags)
    .toBuffer()
}
