/*
 * Teltonika DualCam, ADAS and DSM cameras on FMB, FMC and FMM: "DualCam Communication Protocol" (wiki.teltonika-gps.com).
 * Big-endian. A connection of its own, over which a server asks for pictures and videos; positions come over `teltonika`.
 *
 *   0000 VVVV IIIIIIIIIIIIIIII SSSSSSSS     login    V  version of the protocol     I  IMEI     S  which files are there
 *   TTTT LLLL content                       the rest: answers to what the server asks for; L  bytes of content
 *
 * We ask for no files, which the specification has closed at once: the answer to the login is 0000 0000.
 */
import { ByteReader, DecodeError, type Message, type Protocol } from '../kit/index.ts'

export default {
  name: 'dualcam',
  devices: 'Teltonika DualCam, ADAS and DSM cameras',
  integrity: { none: 'only pictures have one' },
  tcp: { port: 5232, frame: frameLength },
  decode,
} satisfies Protocol

const LOGIN = 0x0000
const LOGIN_LENGTH = 16
/** The beginning, the parts and the end of a file, and its path. */
const FILE = new Set([0x0001, 0x0003, 0x0004, 0x0005, 0x000d])
const LAST = 0x000f
const CLOSE = Buffer.from([0, 0, 0, 0])
/** IMEIs have 15 digits, of which the first may be 0. */
const IMEIS = { from: 1e13, to: 1e15 }

function frameLength(bytes: Buffer): number {
  if (bytes.length < 4) return 0
  const type = bytes.readUInt16BE(0)
  if (type > LAST) return -1
  const length = type === LOGIN ? LOGIN_LENGTH : 4 + bytes.readUInt16BE(2)
  return bytes.length < length ? 0 : length
}

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const type = r.u16()
  if (type !== LOGIN) return FILE.has(type) ? { none: 'photo' } : {}
  const imei = r.skip(2).u64()
  r.skip(4)
  if (!(imei >= IMEIS.from && imei < IMEIS.to)) throw new DecodeError('malformed', `${imei} is no IMEI`)
  return { device: String(imei).padStart(15, '0'), none: 'login', reply: CLOSE }
}
