/*
 * JT/T 808-2011, -2013 and -2019, the Chinese standard of vehicle terminals, and the many trackers made on it: Jimi, Huabao,
 * Queclink GL100, Topflytech, Coban … Big-endian, between flags, escaped (7E as 7D02, 7D as 7D01).
 *
 *   7E TTTT PPPP [VV] IIIIIIIIIIII SSSS [NNNN KKKK] body… CC 7E
 *
 *   T  type                       V  version, and I of 10 bytes: since 2019     N  number of parts, K which one, from 1 on:
 *   P  length of the body (bits   I  phone number in packed decimals, or an        of a split message (bit 13 of P)
 *      9–0), encryption (12–10),     IMEI of 14 digits as a binary number       C  XOR from T to the body
 *      split (13), version (14)   S  serial number
 *
 *   0100 registration: answer 8100 [V] I 0000 (S 00, text of I)         0004 asks for the time: 8004; 0109: 8109
 *   0102, 0002, 0003, 0200 … all others: answer 8001 [V] I 0000 (S T 00)
 *   0200 position: location.ts            0201, 0500 the same behind the serial number of a question
 *   0704 NNNN KK of (LLLL, position)      0210 of (LL, position)     0801 MMMMMMMM xxxxxxxx position photo…: answer 8800 M
 *   0900 data passed through: GTSL|a|b|c|D|… of a card reader, D the driver; F0 of an OBD reader: said.ts
 *   others: a position is looked for      (…) and 55xx: jointech.ts
 *
 * The parts of a split message are answered together, once it is whole and stored; those of a photo one by one, and dropped.
 */
import {
  assemble,
  ByteReader,
  ByteWriter,
  between,
  DecodeError,
  dialects,
  eachReadable,
  enveloped,
  escaped,
  type Fix,
  imeiOf14,
  type Message,
  type Protocol,
  type Session,
  verified,
  xor,
} from '../kit/index.ts'
import { isJointech, jointechFrame, jointechText } from './jointech.ts'
import { BASIC, locationWithin, report, saidIn } from './location.ts'
import { cardIn, obdIn } from './said.ts'

const frames = escaped({ flag: 0x7e, escape: 0x7d, codes: new Map([1, 2].map((code) => [code, 0x7c + code])) })

const spoken = dialects([
  { when: 0x7e, frame: frames.frame, decode },
  { when: '(', frame: between('(', ')'), decode: jointechText },
])

export default {
  name: 'jt808',
  devices:
    'JT/T 808 terminals: Jimi JC371, JC450, Huabao HB, Queclink GL100, Jointech JT701, Concox, Meitrack, Coban …',
  acknowledges: 'fixes',
  integrity: { checksum: 'XOR', covers: [1, -2] },
  escaping: { escape: frames.escape, codes: frames.codes },
  tcp: { port: 5015, frame: spoken.frame },
  udp: { port: 5015, frame: spoken.frame },
  decode: spoken.decode,
} satisfies Protocol

const [GENERAL_ANSWER, REGISTER, TIME] = [0x0001, 0x0100, 0x0004]
/** Of trackers that ask before the standard had a question for it: the year in two bytes, no packed decimals. */
const OLD_TIME = 0x0109
const [PHOTO, BATCH, VENDOR_BATCH, PASSED] = [0x0801, 0x0704, 0x0210, 0x0900]

/** Types that hold no position, by what they hold. */
const OTHERS: Readonly<Record<string, readonly number[]>> = {
  // 0506: of the CC888, while the engine is off.
  heartbeat: [0x0002, 0x0506],
  login: [REGISTER, 0x0102],
  logout: [0x0003],
  time: [TIME, OLD_TIME],
  'command answer': [GENERAL_ANSWER, 0x0005, 0x0104, 0x0108, 0x0302, 0x0608],
  status: [0x0107, 0x0301, 0x0303],
  photo: [0x0800, 0x0802, 0x0805],
  trip: [0x0700],
  text: [0x0701],
  driver: [0x0702],
  CAN: [0x0705],
  key: [0x0a00],
}
const NONE = new Map(Object.entries(OTHERS).flatMap(([why, types]) => types.map((type) => [type, why] as const)))

/** The numbers that precede the position in these types, in bytes. */
const BEFORE = new Map([0x0200, 0x0201, 0x0500].map((type) => [type, type === 0x0200 ? 0 : 2]))

/** Bits of P. */
const [LENGTH, ENCRYPTION, SPLIT, VERSION] = [0x03ff, 0x1c00, 0x2000, 0x4000]
/** Result of a registration. */
const NOT_IN_DATABASE = 4
const JPEG = 0xffd8

function decode(frame: Buffer, session: Session): Message {
  const content = frames.content(frame)
  if (isJointech(content)) return jointechFrame(content, frames.wrap, session)
  const r = new ByteReader(verified(withoutStray(content), { sum: xor, from: 0, width: 1 }, session))
  const header = headerOf(r)
  const { device, properties } = header
  const length = r.left - (properties & SPLIT ? 4 : 0)
  if (length !== (properties & LENGTH) && !session.lenient)
    throw new DecodeError('malformed', `length field is ${properties & LENGTH}, body has ${length} bytes`)
  if (properties & ENCRYPTION) return { device, fixes: [], reply: answer(header) }
  return { device, ...(properties & SPLIT ? part : whole)(r, header, session) }
}

/** Content without a 00 behind its checksum, as one public report has it: the length says where the checksum is. */
function withoutStray(content: Buffer): Buffer {
  if (content.length < 17 || content.at(-1) !== 0) return content
  const properties = content.readUInt16BE(2)
  const head = (properties & VERSION ? 17 : 12) + (properties & SPLIT ? 4 : 0)
  return content.length === head + (properties & LENGTH) + 2 ? content.subarray(0, -1) : content
}

type Header = ReturnType<typeof headerOf>

/** `id`: hexadecimal digits; `address`: version and id, which answers repeat. */
function headerOf(r: ByteReader) {
  const [type, properties] = [r.u16(), r.u16()]
  const version = properties & VERSION ? r.hex(1) : ''
  const id = r.hex(version === '' ? 6 : 10)
  return { type, properties, id, device: deviceOf(id), address: version + id, serial: r.u16() }
}

/** Leading zeros fill the number up; digits that are not decimal are those of a binary IMEI without its check digit. */
function deviceOf(id: string): string {
  if (/^\d+$/.test(id)) return id.replace(/^0+(?=.)/, '')
  const digits = BigInt(`0x${id}`).toString()
  return digits.length === 14 ? imeiOf14(digits) : digits
}

function whole(r: ByteReader, header: Header, session: Session): Message {
  const { type } = header
  const none = NONE.get(type)
  if (type === GENERAL_ANSWER) return { none }
  if (type === REGISTER) return { none, reply: registered(header, 0), refusal: registered(header, NOT_IN_DATABASE) }
  if (type === TIME) return { none, reply: ended(messageStart(0x8004, 6, header).bcdTime(session.now)) }
  if (type === OLD_TIME) {
    const [year, ...rest] = new Date(session.now).toISOString().split(/\D/, 6).map(Number)
    return { none, reply: ended(messageStart(0x8109, 7, header).u16(year).bytes(rest)) }
  }
  if (none !== undefined) return { none, reply: answer(header) }
  const reply = type === PHOTO ? ended(messageStart(0x8800, 4, header).bytes(r.ahead().slice(4))) : answer(header)
  return enveloped({ device: header.device, reply }, () => positions(r, header, session))
}

function part(r: ByteReader, header: Header, session: Session): Message {
  const { type, serial } = header
  const [count, index] = [r.u16(), r.u16() - 1]
  const reply = answer(header)
  if (type === PHOTO && index === 0)
    return enveloped({ device: header.device, reply }, () => positions(r, header, session))
  const none = type === PHOTO ? 'photo' : NONE.get(type)
  if (none !== undefined) return { none, reply }
  const given = { key: `${type} ${serial - index}`, index, count, content: r.slice(), reply }
  const all = assemble(given, session)
  if (!all) return { none: 'part' }
  return enveloped({ device: header.device, reply: all.reply }, () =>
    positions(new ByteReader(all.content), header, session),
  )
}

type Positions = Pick<Message, 'fixes' | 'none' | 'said' | 'unreadable'>

/** What the body of a type that holds positions says; of an unknown type, the position that is found in it. */
function positions(r: ByteReader, { device, type, properties }: Header, session: Session): Positions {
  const settings = session.settingsOf(device)
  const isOf2019 = (properties & VERSION) !== 0
  const read = (entry: ByteReader) => report(entry, settings, isOf2019)
  const before = BEFORE.get(type)
  if (before !== undefined) {
    const at = r.skip(before).position
    const fix = read(r)
    return fix ? { fixes: [fix] } : { none: 'no fix', said: saidIn(r.at(at), isOf2019) }
  }
  if (type === BATCH) return batch(r.skip(3), 2, read)
  if (type === VENDOR_BATCH) return batch(r, 1, read)
  if (type === PHOTO) return photo(r.skip(8), read)
  const content = r.slice()
  const card = type === PASSED ? cardIn(content) : undefined
  if (card) return { none: 'driver', said: card }
  const fix = locationWithin(content, settings)
  return fix ? { fixes: [fix] } : { said: type === PASSED ? obdIn(content) : undefined }
}

const placed = (fix: Fix | undefined): Positions => (fix ? { fixes: [fix] } : { none: 'no fix' })

type Read = (entry: ByteReader) => Fix | undefined

function batch(r: ByteReader, width: 1 | 2, read: Read): Positions {
  const entries: ByteReader[] = []
  while (r.left > width) entries.push(r.part(Math.min(r.uint(width), r.left)))
  if (entries.length > 0 && entries.every(({ left }) => left < BASIC)) return { fixes: [] }
  const { good, unreadable } = eachReadable(entries, read)
  const fixes = good.filter((fix) => fix !== undefined)
  return fixes.length > 0 || unreadable ? { fixes, unreadable } : { none: 'no fix' }
}

/** Before 2013 no position precedes the picture. */
function photo(r: ByteReader, read: Read): Positions {
  const hasPlace = r.left >= BASIC && r.ahead().u16() !== JPEG
  return hasPlace ? placed(read(r.part(BASIC))) : { none: 'photo' }
}

const answer = (header: Header) => ended(messageStart(0x8001, 5, header).u16(header.serial).u16(header.type).u8(0))

function registered(header: Header, result: number): Buffer {
  const code = result === 0 ? header.id : ''
  const start = messageStart(0x8100, 3 + code.length, header).u16(header.serial)
  return ended(start.u8(result).ascii(code))
}

function messageStart(type: number, length: number, { properties, address }: Header): ByteWriter {
  return new ByteWriter()
    .u16(type)
    .u16((properties & VERSION) | length)
    .hex(address)
    .u16(0)
}

const ended = (message: ByteWriter) => frames.wrap(message.xor().toBuffer())
