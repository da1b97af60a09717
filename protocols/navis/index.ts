/*
 * Navtelecom (START, SMART, SIGNAL, S-2435 …): NTCB and FLEX 1.0, 2.0, 3.0, "Protocol of information exchange" 6.2, §1.
 * Little-endian.
 *
 *   @NTC RRRRRRRR SSSSSSSS LLLL BB HH body                 NTCB; body:
 *     *>S:I…                                               login with the IMEI: answer *<S
 *     *>FLEX B0 VV WW NN mask                              which fields records have: answer *<FLEX B0 VV WW
 *     *>A CC record…, *>T record                           old records (record.ts): answer *<A CC, *<T and the record's number
 *   ~A CC record… XX, ~T iiiiiiii record XX, ~C record XX  FLEX records (flex.ts): answer ~A CC XX, ~T iiiiiiii XX, ~C XX
 *   ~E CC of (llll, data) XX, ~X iiiiiiii llll data XX     further data: answer ~E CC XX, ~X iiiiiiii XX
 *   7F                                                     ping
 *
 *   R, S  receiver, sender    L  length of the body    B, H  XOR of the body, and of all before H     X  CRC-8 (31, FF)
 *
 * The length of a FLEX record is that of the fields in the mask. Of fields above 122 it is not public: a frame then ends where
 * the checksum fits, and its records are as far apart as their numbers say.
 */
import {
  ByteReader,
  ByteWriter,
  crc8Egts,
  DecodeError,
  dialects,
  enveloped,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  verify,
  xor,
} from '../kit/index.ts'
import { conversations, flexFix, flexFrame, HEADS, negotiated } from './flex.ts'
import { oldFix, oldRecords } from './record.ts'

const PING = 0x7f
const spoken = dialects([
  { when: '@NTC', frame: lengthField({ start: '@NTC', at: 12, width: 2, endian: 'little', add: 16 }), decode: ntcb },
  { when: '~', frame: flexFrame, decode: flex },
  { when: PING, frame: () => 1, decode: ping },
])

export default {
  name: 'navis',
  devices: 'Navtelecom START S-2010, S-2011, SMART S-2330, S-2420, S-2435, SIGNAL S-2551, S-4651 …',
  acknowledges: 'fixes',
  integrity: { checksum: 'XOR, of FLEX CRC-8 (31, FF)', covers: (frame) => [0, frame[0] === PING ? 0 : -1] },
  tcp: { port: 5019, frame: spoken.frame },
  decode: spoken.decode,
} satisfies Protocol

function ping(frame: Buffer): Message {
  if (frame.length > 1) throw new DecodeError('malformed', 'a ping is one byte')
  return { none: 'ping' }
}

function ntcb(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  const receiver = r.skip(4).u32le()
  const sender = r.u32le()
  const bodySum = r.skip(2).u8()
  verify(xor(frame.subarray(0, 15)) === r.u8(), session)
  const body = r.slice()
  verify(xor(body) === bodySum, session)
  return spokenIn(body, session, (reply) => {
    const head = new ByteWriter().ascii('@NTC').u32le(sender).u32le(receiver).u16le(reply.length).u8(xor(reply))
    return head.xor().bytes(reply).toBuffer()
  })
}

/** Makes an answer of a body. */
type Wrap = (body: Buffer) => Buffer

function spokenIn(body: Buffer, session: Session, wrap: Wrap): Message {
  const text = body.toString('latin1', 0, 6)
  const r = new ByteReader(body)
  if (text.startsWith('*>S:'))
    return { device: r.skip(4).ascii(r.left), none: 'login', reply: wrap(Buffer.from('*<S')) }
  if (text === '*>FLEX') return { none: 'settings', reply: wrap(negotiated(r.skip(6), session)) }
  if (text.startsWith('*>A')) {
    const count = r.skip(3).u8()
    return old(count, r, wrap(new ByteWriter().ascii('*<A').u8(count).toBuffer()))
  }
  if (text.startsWith('*>T')) {
    const number = r.skip(3).ahead(1).u32le()
    return old(1, r, wrap(new ByteWriter().ascii('*<T').u32le(number).toBuffer()))
  }
  return /^\*[<@!#]/.test(text) ? { none: 'command answer' } : {}
}

function old(count: number, r: ByteReader, reply: Buffer): Message {
  if (count === 0) return { none: 'no place', reply }
  return enveloped({ reply }, () => {
    const fixes = oldRecords(r.slice(), count).map((record) => oldFix(record))
    const known = fixes.filter((fix) => fix !== undefined)
    const unreadable = fixes.flatMap((fix, index) => (fix ? [] : [index]))
    return { fixes: known, ...(known.length > 0 && unreadable.length > 0 ? { unreadable } : {}) }
  })
}

function flex(frame: Buffer, session: Session): Message {
  const type = String.fromCharCode(frame[1])
  const head = HEADS[type]
  if (head === undefined || frame.length < head + 1) throw new DecodeError('truncated')
  verify(crc8Egts(frame.subarray(0, -1)) === frame.at(-1), session)
  const reply = new ByteWriter().bytes(frame.subarray(0, head)).sum(crc8Egts).toBuffer()
  if (type === 'E' || type === 'X') return { fixes: [], reply }
  const { offsets, length: least } = conversations(session)
  if (!offsets) throw new DecodeError('unsupported', 'no fields of FLEX records were agreed on')
  return enveloped({ reply }, () => {
    const count = type === 'A' ? frame[2] : 1
    const length = (frame.length - head - 1) / count
    if (!Number.isInteger(length) || length < least)
      throw new DecodeError('malformed', `${count} records in ${frame.length - head - 1} bytes`)
    if (count > 1) conversations(session).last = length
    const records = Array.from({ length: count }, (_, i) => frame.subarray(head + i * length, head + (i + 1) * length))
    const fixes = records.map((record) => flexFix(record, offsets)).filter((fix) => fix !== undefined)
    return fixes.length > 0 ? { fixes } : { none: 'no place' }
  })
}
