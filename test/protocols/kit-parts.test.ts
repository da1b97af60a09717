import { expect, it } from 'vitest'
import {
  assemble,
  BitReader,
  ByteReader,
  ByteWriter,
  crc16Arc,
  crc16X25,
  digitsOfTime,
  signMagnitude,
  splitBits,
  sum8,
  TextWriter,
  tlv,
  verified,
  verifiedHex,
  xor,
} from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { newSession, reasonOf } from '../support/rough.ts'
import { ARRIVED } from '../support/vectors/vectors.ts'

it('ByteWriter writes values in wire order', () => {
  const written = new ByteWriter()
    .u8(0x1ff)
    .u16(0x0102)
    .u16le(0x0102)
    .u32(0xfffefdfc)
    .u32le(0xfffefdfc)
    .u64(2 ** 53 - 1)
    .u64le(2 ** 53 - 1)
    .bytes([1, 2])
    .hex('0abc')
    .ascii('AB')
    .toBuffer()
  expect(written).toEqual(bytes('ff 0102 0201 fffefdfc fcfdfeff 001fffffffffffff ffffffffffff1f00 0102 0abc 4142'))
})

it('ByteWriter writes times as bytes and as packed decimals', () => {
  expect(new ByteWriter().ymdhms(ARRIVED).bcdTime(ARRIVED).toBuffer()).toEqual(bytes('1a0b140c0000 261120120000'))
  expect(digitsOfTime(ARRIVED)).toBe('261120120000')
})

it('ByteWriter appends checksums over the bytes written before', () => {
  const written = new ByteWriter().ascii('x123456789').xor(1).toBuffer()
  expect(written.at(-1)).toBe(0x31)
  const two = new ByteWriter().ascii('123456789').sum8().crc16(crc16X25, 9).crc16le(crc16Arc, 10).toBuffer()
  const sum = sum8(Buffer.from('123456789'))
  const x25 = crc16X25(Buffer.of(sum))
  const arc = crc16Arc(Buffer.of(x25 >> 8, x25 & 255))
  expect(two.subarray(9)).toEqual(Buffer.of(sum, x25 >> 8, x25 & 255, arc & 255, arc >> 8))
  expect(
    new ByteWriter()
      .u8(7)
      .sum(() => 0x1aa)
      .toBuffer(),
  ).toEqual(bytes('07aa'))
})

it('ByteWriter grows with what is written', () => {
  const writer = new ByteWriter()
  for (let i = 0; i < 1000; i++) writer.u8(i)
  expect([writer.length, writer.toBuffer().every((byte, i) => byte === (i & 255))]).toEqual([1000, true])
})

it('TextWriter writes checksums in hexadecimal digits', () => {
  expect(new TextWriter().text('$123456789*').sum8().toBuffer().toString()).toBe('$123456789*2B')
  expect(new TextWriter('lower').text('x123456789').crc16(crc16Arc, 1).text('\n').toBuffer().toString()).toBe(
    'x123456789bb3d\n',
  )
  expect(new TextWriter().text('ab').xor().hex(10, 4).toBuffer().toString()).toBe('ab03000A')
})

const BODY = Buffer.from('123456789')

it('verified returns what the checksum covers, and refuses a wrong checksum unless the session is lenient', () => {
  const frame = Buffer.concat([bytes('7878'), BODY, bytes('906e 0d0a')])
  const place = { sum: crc16X25, from: 2, width: 2, trailing: 2 } as const
  const verifying = newSession()
  expect([verified(frame, place, verifying), verifying.hasVerified]).toEqual([BODY, true])
  frame[4] ^= 1
  expect(reasonOf(() => verified(frame, place, newSession()))).toBe('checksum')
  expect(verified(frame, place, newSession(true)).length).toBe(9)
  expect(reasonOf(() => verified(frame.subarray(0, 5), place, newSession(true)))).toBe('truncated')
})

it('verified checks one-byte and little-endian checksums', () => {
  expect(verified(Buffer.concat([BODY, bytes('31')]), { sum: xor, from: 0, width: 1 }, newSession())).toEqual(BODY)
  const frame = Buffer.concat([BODY, bytes('3dbb')])
  expect(verified(frame, { sum: crc16Arc, from: 0, width: 2, endian: 'little' }, newSession())).toEqual(BODY)
})

it('verifiedHex checks hexadecimal digits of either case', () => {
  for (const digits of ['BB3D', 'bb3d'])
    expect(
      verifiedHex(
        Buffer.from(`$123456789${digits}\r\n`),
        { sum: crc16Arc, from: 1, width: 4, trailing: 2 },
        newSession(),
      ),
    ).toEqual(BODY)
  expect(reasonOf(() => verifiedHex(Buffer.from('12'), { sum: xor, from: 1, width: 2 }, newSession()))).toBe(
    'truncated',
  )
  expect(reasonOf(() => verifiedHex(Buffer.from('1x3'), { sum: xor, from: 0, width: 2 }, newSession()))).toBe(
    'checksum',
  )
})

it('tlv reads values to the end, or until no whole one follows', () => {
  const r = new ByteReader(bytes('01 02 aabb 02 00 03 05 aa'))
  expect([read(r, { tag: 1, length: 1 }), r.left]).toEqual([
    [
      [1, 'aabb'],
      [2, ''],
    ],
    1,
  ])
  expect(read(new ByteReader(bytes('0001 0001 aa 00')), { tag: 2, length: 2 })).toEqual([[1, 'aa']])
})

it('tlv reads little-endian values, and a length in front of the tag that may count the tag', () => {
  expect(read(new ByteReader(bytes('0100 02 aabb')), { tag: 2, length: 1, endian: 'little' })).toEqual([[1, 'aabb']])
  const counting = { tag: 2, length: 2, order: 'length, tag', counted: 2 } as const
  expect(read(new ByteReader(bytes('0003 0101 aa 0002 0102 0001 0103')), counting)).toEqual([
    [0x101, 'aa'],
    [0x102, ''],
  ])
})

it('BitReader reads the most significant bit first', () => {
  const r = new BitReader(bytes('a5 ff 80 01'))
  expect([r.u(4), r.u(4), r.i(3), r.skip(5).u(9), r.left]).toEqual([10, 5, -1, 0x100, 7])
  expect([r.u(7), reasonOf(() => r.u(1)), reasonOf(() => r.skip(1))]).toEqual([1, 'truncated', 'truncated'])
  expect(new BitReader(bytes('ffffffffffffff')).u(53)).toBe(2 ** 53 - 1)
})

it('splitBits and signMagnitude split an integer', () => {
  expect([splitBits(0xa3, 4, 4), splitBits(0xffff_fffe, 6, 4, 5, 5, 6, 6)]).toEqual([
    [10, 3],
    [63, 15, 31, 31, 63, 62],
  ])
  expect([signMagnitude(0x8005, 16), signMagnitude(5, 16), signMagnitude(0x8000_0001, 32)]).toEqual([-5, 5, -1])
})

const identified = () => ({ ...newSession(), device: '1' })

it('assemble returns a split message with its last part, in any order and with repeated parts', () => {
  const session = identified()
  for (const index of [2, 0, 2, 0]) expect(assemble(part(index), session)).toBeUndefined()
  expect(assemble(part(1), session)).toEqual({
    content: bytes('000102'),
    reply: [bytes('00'), bytes('01'), bytes('02')],
  })
  expect(assemble(part(1), session)).toBeUndefined()
})

it('assemble drops an unfinished message when another one begins', () => {
  const session = identified()
  assemble(part(0), session)
  expect(assemble(part(0, { key: 2, count: 2 }), session)).toBeUndefined()
  expect(assemble(part(1, { key: 2, count: 2 }), session)?.content).toEqual(bytes('0001'))
  expect(assemble(part(1), session)).toBeUndefined()
})

it('assemble copies each part, so that its buffer may be reused', () => {
  const session = identified()
  const first = part(0, { count: 2 })
  assemble(first, session)
  first.content.fill(9)
  expect(assemble(part(1, { count: 2 }), session)?.content).toEqual(bytes('0001'))
})

it('assemble limits the parts and bytes of a message, more so before the device is known', () => {
  const session = identified()
  expect(reasonOf(() => assemble(part(0, { count: 256 }), session))).toBe('unsupported')
  expect(reasonOf(() => assemble(part(3), session))).toBe('malformed')
  expect(reasonOf(() => assemble(part(0, { length: 4097 }), newSession()))).toBe('unsupported')
  expect(assemble(part(0, { length: 40_000 }), session)).toBeUndefined()
  expect(assemble(part(0, { length: 40_000 }), session)).toBeUndefined()
  expect(reasonOf(() => assemble(part(1, { length: 40_000 }), session))).toBe('unsupported')
  expect(assemble(part(1), session)).toBeUndefined()
})

function read(r: ByteReader, layout: Parameters<typeof tlv>[1]) {
  return [...tlv(r, layout)].map(({ tag, value }) => [tag, value.slice().toString('hex')])
}

function part(index: number, options: { key?: number; count?: number; length?: number } = {}) {
  const { key = 1, count = 3, length = 1 } = options
  return { key, index, count, content: Buffer.alloc(length, index), reply: Buffer.of(index) }
}
