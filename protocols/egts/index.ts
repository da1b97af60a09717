/*
 * EGTS: GOST R 54619-2011 and order 285 of the Russian ministry of transport, for terminals, and for relays that send the
 * records of many objects. Little-endian.
 *
 *   VV KK FF HH EE LLLL PPPP TT [route5] XX data… CCCC        one packet; C is absent where L is 0
 *   record: llll NNNN RR [OOOOOOOO] [EVID] [TM] SS DD, then l bytes of subrecords: pp qqqq data…     position.ts
 *   data of T 00: answers to packets of ours; of T 01: records
 *
 *   V  01                                     L  length of the data     N  number of the record     S  its service: 1, 2 …
 *   F  bit 5: route, 4–3: encryption,         P  number of the packet   R  bit 0: O, 1: EVID,       p  type, q length of a
 *      bit 2: compression                     X  CRC-8 (31, FF)            2: TM                       subrecord
 *   H  length of the header                   C  CRC-16/CCITT-FALSE     O  object
 *
 *   Answer to each record: a packet 00 of P 00 and the record 0600 0000 00 S S with 00 0300 NNNN RR (R 0: accepted,
 *   84: it cannot be read); to a terminal that names itself (01) the packet 01 with 0400 0000 00 01 01, 07 0100 00 too.
 *
 * After a terminal has named itself, all records are its own; otherwise O names the device of each.
 */
import {
  ByteReader,
  ByteWriter,
  crc8Egts,
  crc16CcittFalse,
  DecodeError,
  eachReadable,
  type Fix,
  Marks,
  type Message,
  type Protocol,
  type Session,
  sessionState,
  verify,
} from '../kit/index.ts'
import { readPositions } from './position.ts'

export default {
  name: 'egts',
  devices: 'EGTS terminals and relays: Granit, Fort, Itelma, ScoutNet, Wialon Retranslator, and other software',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-8 (31, FF) and CRC-16/CCITT-FALSE', covers: (frame) => [0, hasData(frame) ? -2 : -1] },
  tcp: { port: 5162, frame: frameLength },
  decode,
} satisfies Protocol

const VERSION = new Marks(0x01)
/** Bytes of a header, and of one with a route. */
const HEADER = 11
const HEADERS = new Set([HEADER, 16])
const RESPONSE = 0
const APPLICATION = 1
/** Application data behind a signature. */
const SIGNED = 2
const ENCRYPTED = 0x18
const COMPRESSED = 0x04

/** Services: authentication, telematics data, commands, firmware. */
const AUTHENTICATION = 1
const TELEMATICS = 2
const NONE = new Map([
  [AUTHENTICATION, 'login'],
  [TELEMATICS, 'no place'],
  [3, 'command answer'],
  [4, 'status'],
])

/** Subrecords of authentication. */
const TERMINAL = 1
const RESULT_CODE = 9

/** Results. */
const ACCEPTED = 0
const MALFORMED = 132
const DENIED = 151

const conversations = sessionState(() => ({ packets: 0, terminal: undefined as string | undefined }))

function frameLength(bytes: Buffer): number {
  const isNoise = VERSION.lengthAt(bytes, 0) === 0 || (bytes.length > 3 && !HEADERS.has(bytes[3]))
  if (isNoise) return -VERSION.next(bytes, 1)
  if (bytes.length < 7) return 0
  const length = bytes.readUInt16LE(5)
  const end = bytes[3] + (length === 0 ? 0 : length + 2)
  return bytes.length < end ? 0 : end
}

function hasData(frame: Buffer): boolean {
  return frame.length > frame[3]
}

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  const flags = r.skip(2).u8()
  const length = r.u8()
  const packet = r.skip(3).u16le()
  const type = r.u8()
  r.skip(length - r.position - 1)
  verify(crc8Egts(frame.subarray(0, length - 1)) === r.u8(), session)
  if (type === RESPONSE || !hasData(frame)) return { none: 'command answer' }
  const data = r.slice(r.left - 2)
  verify(crc16CcittFalse(data) === r.u16le(), session)
  if (flags & (ENCRYPTED | COMPRESSED)) throw new DecodeError('unsupported', 'the packet is encrypted or compressed')
  const content = new ByteReader(data)
  if (type === SIGNED) content.skip(content.u16le())
  return answered(packet, recordsOf(content), session)
}

interface EgtsRecord {
  readonly number: number
  readonly object: string | undefined
  readonly service: number
  readonly content: ByteReader
}

function recordsOf(r: ByteReader): EgtsRecord[] {
  const records: EgtsRecord[] = []
  while (r.left > 0) {
    const length = r.u16le()
    const number = r.u16le()
    const flags = r.u8()
    const object = flags & 1 ? String(r.u32le()) : undefined
    r.skip((flags & 2 ? 4 : 0) + (flags & 4 ? 4 : 0))
    const service = r.u8()
    records.push({ number, object, service, content: r.skip(1).part(length) })
  }
  return records
}

/** What each record says; of several one that cannot be read costs the others nothing, and where none can, the error has the `envelope`. */
function readable(records: readonly EgtsRecord[], isOwn: boolean, envelope: () => Message) {
  try {
    return eachReadable(records, (record) => fixesOf(record, isOwn))
  } catch (error) {
    if (error instanceof DecodeError) error.envelope = envelope()
    throw error
  }
}

function answered(packet: number, records: readonly EgtsRecord[], session: Session): Message {
  const conversation = conversations(session)
  const device = records.map(terminalOf).find((id) => id !== undefined)
  conversation.terminal ??= device
  const isOwn = conversation.terminal !== undefined
  const repliesTo = (result: (index: number) => number) =>
    records.map(({ number, service }, index) =>
      response(conversation.packets++, { packet, number, service, result: result(index) }),
    )
  const { good, unreadable = [] } = readable(records, isOwn, () => ({ device, reply: repliesTo(() => MALFORMED) }))
  const fixes = good.flat()
  const reply = repliesTo((index) => (unreadable.includes(index) ? MALFORMED : ACCEPTED))
  const told = { reply, ...(unreadable.length > 0 ? { unreadable } : {}) }
  if (device !== undefined) {
    const refusal = resultCode(conversation.packets, DENIED)
    const said = fixes.length > 0 ? { fixes } : { none: 'login' }
    return { device, ...said, ...told, reply: [...reply, resultCode(conversation.packets++, ACCEPTED)], refusal }
  }
  if (fixes.length > 0) return { fixes, ...told }
  const none = records.length === 0 ? 'no place' : NONE.get(records[0].service)
  return records.every(({ service }) => NONE.has(service)) ? { none, ...told } : told
}

/** The terminal that names itself: by its IMEI, or by its number. */
function terminalOf({ service, content }: EgtsRecord): string | undefined {
  if (service !== AUTHENTICATION || content.left < 8) return undefined
  const r = content.ahead()
  if (r.u8() !== TERMINAL) return undefined
  const number = r.skip(2).u32le()
  const flags = r.u8()
  if (!(flags & 2)) return String(number)
  return r
    .skip(flags & 1 ? 2 : 0)
    .ascii(15)
    .replace(/\0+$/, '')
}

function fixesOf({ content, object, service }: EgtsRecord, isOwn: boolean): Fix[] {
  if (service !== TELEMATICS) return []
  const fixes = readPositions(content)
  return isOwn || object === undefined ? fixes : fixes.map((fix) => ({ device: object, ...fix }))
}

interface RecordResponse {
  readonly packet: number
  readonly number: number
  readonly service: number
  readonly result: number
}

function response(id: number, { packet, number, service, result }: RecordResponse): Buffer {
  const w = packetStart(id, RESPONSE, 16).u16le(packet).u8(ACCEPTED)
  w.u16le(6).u16le(0).u8(0).u8(service).u8(service)
  return w.u8(0).u16le(3).u16le(number).u8(result).crc16le(crc16CcittFalse, HEADER).toBuffer()
}

function resultCode(id: number, result: number): Buffer {
  const w = packetStart(id, APPLICATION, 11).u16le(4).u16le(0).u8(0).u8(AUTHENTICATION).u8(AUTHENTICATION)
  return w.u8(RESULT_CODE).u16le(1).u8(result).crc16le(crc16CcittFalse, HEADER).toBuffer()
}

function packetStart(id: number, type: number, length: number): ByteWriter {
  return new ByteWriter().u8(1).u8(0).u8(0).u8(HEADER).u8(0).u16le(length).u16le(id).u8(type).sum(crc8Egts)
}
