import { type ByteReader, DecodeError, dop, type Fix, heading, kmh, type Message } from '../kit/index.ts'

/** Bytes of a cell, and of inputs and outputs. */
const CELL = 12
const IO = 8
/** Bytes of values of custom parameters, by their type; 10 is text. */
const WIDTHS = [1, 2, 4, 8, 1, 2, 4, 8, 4, 8]
const TEXT = 10
const TYPE = 0x1f

/** The fixes of the messages of a packet, and the messages that could not be read. */
export function messagesOf(r: ByteReader): Pick<Message, 'fixes' | 'none' | 'unreadable'> {
  const fixes: Fix[] = []
  for (let index = 0; r.left > 0; index++) {
    try {
      fixes.push(...fixesOf(r))
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      return { fixes, unreadable: fixes.length > 0 ? [index] : undefined }
    }
  }
  return fixes.length > 0 ? { fixes } : { none: 'no place' }
}

/** @throws DecodeError of a sub-record whose length is not known. */
function fixesOf(r: ByteReader): Fix[] {
  const time = r.u32() * 1000
  const fixes: Fix[] = []
  for (let count = r.u8(); count > 0; count--) {
    const kind = extended(r)
    if (kind === 1) fixes.push(positionOf(r, time))
    else if (kind === 0) skipParameters(r)
    else if (kind === 2) r.skip(IO)
    else if (kind === 3) skipPicture(r)
    else if (kind === 4) r.skip(r.u8() * CELL)
    else throw new DecodeError('unsupported', `a sub-record of kind ${kind}`)
  }
  return fixes
}

function positionOf(r: ByteReader, time: number): Fix {
  const latitude = r.i32() / 1e6
  const longitude = r.i32() / 1e6
  const speed = kmh(r.u16())
  const course = heading(r.u16())
  const altitude = r.i16()
  const satellites = r.u8()
  const hdop = dop(r.u16() / 100)
  return { time, latitude, longitude, valid: true, altitude, speed, heading: course, hdop, satellites }
}

/** Pairs of a number and a value, whose type stands in the low five bits of a byte. */
function skipParameters(r: ByteReader): void {
  for (let count = extended(r); count > 0; count--) {
    extended(r)
    const type = r.u8() & TYPE
    if (type === TEXT) r.asciiUntil(0)
    else if (type < WIDTHS.length) r.skip(WIDTHS[type])
    else throw new DecodeError('unsupported', `a value has the unknown type ${type}`)
  }
}

/** Index, length, number of parts, name, content. */
function skipPicture(r: ByteReader): void {
  r.skip(1)
  const length = r.peek() >= 0x80 ? r.u32() & 0x7fff_ffff : r.u16()
  r.skip(1).asciiUntil(0)
  r.skip(length)
}

/** A number of one byte, or of two where its first bit is set. */
function extended(r: ByteReader): number {
  return r.peek() >= 0x80 ? r.u16() & 0x7fff : r.u8()
}
