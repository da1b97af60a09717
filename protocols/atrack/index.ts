/*
 * ATrack AT1, AT5, AK1, AK7, AL1, AX5, AX7, AX9, AY5: "ATrack Advanced Product Protocol Document" 1.3.8, §2.2. Big-endian.
 *
 *   binary     PP CCCC LLLL SSSS IIIIIIIIIIIIIIII record…
 *   text       @P,C,L,S,I,record CR LF…            fields of a record as in binary ones, between commas
 *   record     GGGG RRRR TTTT OOOO AAAA HH E DDDD QQ N VV U XX driver 00 WW YY text 00 [%CI%…00 values]
 *   keep-alive FE02 IIIIIIIIIIIIIIII SSSS          answer: the same
 *   $… CR LF   answer to a command
 *
 *   P  prefix, @P if it was not changed (@R: photo)     G  time of the fix      A  latitude, 1e-6 degrees    Q  HDOP, 0.1
 *   C  CRC-16/ARC from L (in text: the comma before) on R  time of the record   H  course, degrees           V  speed, km/h
 *   L  length from S on (in text: from the comma on)    T  time of sending      E, D  event, odometer
 *   S, I  sequence number, IMEI                         O  longitude, 1e-6°     N, U, X, W, Y  inputs
 *
 * A time is unix seconds, or (AT$FORM) year16 month day hour minute second; in text YYYYMMDDhhmmss. Values of one's own
 * follow where a record has their names (%CI), or the setting `form` ("%SA%MV…", as in AT$FORM) names them: of these the
 * altitude (%AT), satellites (%SA), supply (%MV, 0.1 V), own battery (%BV, 0.1 V), ignition (%IN0, which it
 * is wired to: inferred) and, in text, motion (%MT) are read. Their lengths are those of frames that were seen. The driver is the text of a card, if there is one.
 *
 * Answer to a report, text too: FE02 I S, once it is stored; else it comes again.
 */
import {
  ByteReader,
  ByteWriter,
  between,
  crc16Arc,
  DecodeError,
  dialects,
  enveloped,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  type Stream,
  verify,
} from '../kit/index.ts'
import { binaryRecords } from './binary.ts'
import { textRecords } from './text.ts'

const KEEP_ALIVE = Buffer.from([0xfe, 0x02])
const ANSWER = 0x24
const COMMA = 0x2c
const PHOTO = '@R'
/** Bytes of a binary frame before its first record. */
const HEAD = 16

const framing = dialects([
  { when: KEEP_ALIVE, frame: (bytes) => (bytes.length < 12 ? 0 : 12) },
  { when: '$', frame: between('$', '\r\n') },
  // No prefix begins with a NUL: it fills up what precedes.
  { when: 0, frame: () => -1 },
  { when: isText, frame: textLength },
  { frame: binaryLength },
])

export default {
  name: 'atrack',
  devices: 'ATrack AT1, AT5, AK1, AK7, AL1, AX5, AX7, AX9, AY5',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/ARC', covers: (frame) => [coveredFrom(frame), frame.length] },
  tcp: { port: 5044, frame: framing.frame },
  udp: { port: 5044, frame: framing.frame },
  decode,
} satisfies Protocol

const byLength = lengthField({ at: 4, width: 2, add: 6 })

/** A binary frame has at least a sequence number and an id. */
function binaryLength(bytes: Buffer, stream: Stream): number {
  const length = byLength(bytes, stream)
  return length > 0 && length < HEAD ? -1 : length
}

/** A comma may be the first byte of a binary frame's checksum; the length behind that one is below 11,000 bytes. */
function isText(bytes: Buffer): boolean | 'maybe' {
  if (bytes.length > 2 && bytes[2] !== COMMA) return false
  return bytes.length < 5 ? 'maybe' : bytes[4] >= COMMA
}

/** @P,C,L,… : L counts from the comma behind it on. */
function textLength(bytes: Buffer): number {
  const digits = bytes.indexOf(COMMA, 3) + 1
  if (digits === 0) return bytes.length < 16 ? 0 : -1
  const end = bytes.indexOf(COMMA, digits)
  if (end < 0) return bytes.length < digits + 6 ? 0 : -1
  const length = end + Number(bytes.toString('latin1', digits, end))
  if (!Number.isInteger(length) || length <= end || length > end + 65_535) return -1
  return bytes.length < length ? 0 : length
}

function coveredFrom(frame: Buffer): number {
  return isText(frame) === true ? frame.indexOf(COMMA, 3) : 4
}

function decode(frame: Buffer, session: Session): Message {
  if (frame[0] === ANSWER) return { none: 'command answer' }
  if (frame[0] === KEEP_ALIVE[0] && frame[1] === KEEP_ALIVE[1]) return keepAlive(frame)
  return isText(frame) === true ? text(frame, session) : binary(frame, session)
}

function keepAlive(frame: Buffer): Message {
  if (frame.length !== 12) throw new DecodeError('malformed', 'a keep-alive has 12 bytes')
  return { device: new ByteReader(frame).skip(2).digits64(), none: 'heartbeat', reply: Buffer.from(frame) }
}

function binary(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  const prefix = r.ascii(2)
  const checksum = r.u16()
  const length = r.u16()
  if (length + 6 > frame.length) throw new DecodeError('truncated')
  const covered = frame.subarray(4, length + 6)
  verify(crc16Arc(covered) === checksum, session)
  const sequence = r.u16()
  const device = r.digits64()
  const reply = acknowledgement(device, sequence)
  if (prefix === PHOTO) return { device, none: 'photo', reply }
  const records = frame.subarray(HEAD, length + 6)
  return enveloped({ device, reply }, () => binaryRecords(records, session.settingsOf(device)))
}

function text(frame: Buffer, session: Session): Message {
  const line = frame.toString('latin1')
  const [, checksum, , sequence, device] = line.split(',', 5)
  verify(crc16Arc(frame.subarray(coveredFrom(frame))) === Number.parseInt(checksum, 16), session)
  if (device === undefined || !/^\d{1,19}$/.test(device)) throw new DecodeError('malformed', 'there is no id')
  const records = line.slice(line.indexOf(`,${device},`) + device.length + 2)
  const envelope = { device, reply: acknowledgement(device, Number(sequence)) }
  return enveloped(envelope, () => textRecords(records, session.settingsOf(device)))
}

/** An id that is no IMEI may be above 2^53. */
function acknowledgement(device: string, sequence: number): Buffer {
  const id = BigInt(device).toString(16).padStart(16, '0')
  return new ByteWriter().bytes(KEEP_ALIVE).hex(id).u16(sequence).toBuffer()
}
