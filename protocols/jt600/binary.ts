import { ByteReader, DecodeError, type Fix, type Message, packedFix, type Session } from '../kit/index.ts'

/** Bytes of a position in a packet of several. */
const RECORD = 27
const WANTS_ANSWER = 0x20
/** The first version of padlocks whose answer names the packet. */
const NAMED_ANSWERS = 0x19

/** Whether a packet is of the second kind: its byte 7 holds a kind of device, where the first kind has a length. */
export function isPadlock(bytes: Buffer): boolean | 'maybe' {
  return bytes[0] === 0x24 && (bytes.length < 8 ? 'maybe' : bytes[7] >= 0x10)
}

/** The message of a packet. @throws DecodeError */
export function binary(packet: Buffer, _: Session, isOfPadlock: boolean): Message {
  const r = new ByteReader(packet).skip(1)
  const device = r.bcd(5)
  const version = r.u8()
  if (isOfPadlock) return { device, ...padlock(r.skip(3), version, packet[packet.length - 1]) }
  const length = r.u16()
  if (length % RECORD !== 0 || length === 0 || r.left < length) throw new DecodeError('malformed', `${length} bytes`)
  const fixes: Fix[] = []
  for (let left = length; left > 0; left -= RECORD)
    fixes.push(record(new ByteReader(r.slice(RECORD)), version >> 4 === 1))
  return { device, fixes }
}

function record(r: ByteReader, isFirstVersion: boolean): Fix {
  const fix = packedFix(r)
  if (!isFirstVersion) return fix
  const satellites = r.u8()
  return { ...fix, satellites, altitude: r.skip(2).u16() }
}

function padlock(r: ByteReader, version: number, serial: number): Message {
  const fix = packedFix(r)
  const satellites = r.skip(4).u8()
  const wantsAnswer = (r.skip(5).u8() & WANTS_ANSWER) !== 0
  const answer = version >= NAMED_ANSWERS ? `(P69,0,${serial})` : '(P35)'
  return { fixes: [{ ...fix, satellites }], reply: wantsAnswer ? Buffer.from(answer) : undefined }
}
