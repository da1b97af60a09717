/*
 * Jointech's locks (JT701, JT709), which speak frames of their own beside those of JT/T 808. No specification is public; what
 * follows is inferred from frames.
 *
 *   7E TTTT RL IIIIIIIIIIII SS DDMMYYhhmmss YYYYYYYY OOOOOOOOO F VV GG xx NN [MMMMMMMM BB …] CC 7E
 *
 *   T  5501: position, 5502: position of an earlier fix      Y, O  latitude, longitude: packed decimals, (d)ddmmmmmm
 *   R  bit 7: wants an answer, L: length from D on           F  bit 1: north, 2: east     V  knots    G  2 degrees
 *   S  serial number, of one byte                            N  satellites                C  XOR from T on
 *   M  mileage                                               B  own battery, %; AA or FF while it is charged
 *   Answer: 4401 0003 I 01 TTTT 00
 *
 *   (I,1,001,BASE,2,TIME) asks for the time: answer (I,1,001,BASE,2,YYYYMMDDhhmmss)
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  digitsOfTime,
  enveloped,
  type Message,
  packedFix,
  type Session,
  said,
  verified,
  xor,
} from '../kit/index.ts'

/** Whether the content of a frame is of these locks. */
export const isJointech = (content: Buffer): boolean => content[0] === 0x55 && (content[1] === 1 || content[1] === 2)

/** `wrap` makes a frame of the content of an answer. @throws DecodeError */
export function jointechFrame(content: Buffer, wrap: (content: Buffer) => Buffer, session: Session): Message {
  const r = new ByteReader(verified(content, { sum: xor, from: 0, width: 1 }, session))
  const type = r.u16()
  const wantsAnswer = (r.u8() & 0x80) !== 0
  const length = r.u8()
  const id = r.bcd(6)
  if (length !== r.skip(1).left && !session.lenient)
    throw new DecodeError('malformed', `length field is ${length}, content has ${r.left} bytes`)
  const reply = new ByteWriter().u16(0x4401).u16(3).hex(id).u8(1).u16(type).u8(0).xor().toBuffer()
  return enveloped({ device: id.replace(/^0+(?=.)/, ''), reply: wantsAnswer ? wrap(reply) : undefined }, () => {
    const fix = { ...packedFix(r), valid: type === 0x5501, satellites: r.skip(1).u8() }
    return { fixes: [{ ...fix, said: r.left > MILEAGE ? charge(r.skip(MILEAGE).u8()) : undefined }] }
  })
}

/** 170 and 255 stand for a battery that is being charged. */
const charge = (percent: number) => said(percent > 100 ? { charging: true } : { battery_percent: percent })

const MILEAGE = 4

/** A message in brackets: the request for the time is the only one that is known. @throws DecodeError */
export function jointechText(frame: Buffer, session: Session): Message {
  const text = frame.toString('latin1')
  const device = /^\((\d+),/.exec(text)?.[1]
  if (device === undefined) throw new DecodeError('malformed', 'the frame begins without an id')
  if (!text.endsWith('BASE,2,TIME)')) return { device }
  return { device, none: 'time', reply: Buffer.from(`${text.slice(0, -5)}20${digitsOfTime(session.now)})`) }
}
