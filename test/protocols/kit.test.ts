import { describe, expect, it } from 'vitest'
import {
  ByteReader,
  crc8Egts,
  crc16Arc,
  crc16CcittFalse,
  crc16Kermit,
  crc16Modbus,
  crc16X25,
  crc16Xmodem,
  cut,
  degreesMinutes,
  endsWith,
  heading,
  kmh,
  knots,
  line,
  mph,
  number,
  rfc3339,
  sum8,
  TextReader,
  trimEnd,
  unixTime,
  utc,
  utcDmy,
  utcYmd,
  xor,
} from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { reasonOf } from '../support/rough.ts'

const DIGITS = Buffer.from('123456789')

describe('checksums', () => {
  it.each([
    ['CRC-16/ARC', crc16Arc, 0xbb3d],
    ['CRC-16/X-25', crc16X25, 0x906e],
    ['CRC-16/MODBUS', crc16Modbus, 0x4b37],
    ['CRC-16/CCITT-FALSE', crc16CcittFalse, 0x29b1],
    ['CRC-16/KERMIT', crc16Kermit, 0x2189],
    ['CRC-16/XMODEM', crc16Xmodem, 0x31c3],
    ['CRC-8 of EGTS', crc8Egts, 0xf7],
    ['exclusive or', xor, 0x31],
    ['sum of eight bits', sum8, 0xdd],
  ])('%s has its check value', (_, checksum, value) => {
    expect(checksum(DIGITS)).toBe(value)
  })

  it('covers the view that it is given, and nothing else', () => {
    expect(crc16Arc(Buffer.from('x123456789x').subarray(1, -1))).toBe(0xbb3d)
    expect([crc16Arc(Buffer.alloc(0)), crc16X25(Buffer.alloc(0)), xor(Buffer.alloc(0))]).toEqual([0, 0, 0])
  })
})

describe('ByteReader', () => {
  it('reads values in wire order', () => {
    const r = new ByteReader(bytes('ff fe 0102 0102 fffe feff 010203 01020304 01020304 fffffffe feffffff'))
    expect([r.u8(), r.i8(), r.u16(), r.u16le(), r.i16(), r.i16le()]).toEqual([255, -2, 0x102, 0x201, -2, -2])
    expect([r.u24(), r.u32(), r.u32le(), r.i32(), r.i32le()]).toEqual([0x10203, 0x1020304, 0x4030201, -2, -2])
    expect([r.left, r.position]).toEqual([0, 29])
  })

  it('reads unsigned values with the highest bit, and 64 bits up to 2^53 exactly', () => {
    const r = new ByteReader(bytes('ffffffff feffffff 001fffffffffffff ffffffffffff1f00'))
    expect([r.u32(), r.u32le(), r.u64(), r.u64le()]).toEqual([2 ** 32 - 1, 2 ** 32 - 2, 2 ** 53 - 1, 2 ** 53 - 1])
  })

  it('reads fractions', () => {
    const r = new ByteReader(bytes('3fc00000 0000c03f 3ff8000000000000'))
    expect([r.f32(), r.f32le(), r.f64()]).toEqual([1.5, 1.5, 1.5])
  })

  it('reads text, digits and views', () => {
    const r = new ByteReader(bytes('4142 1234 00af 0102 07 0809'))
    expect([r.ascii(2), r.bcd(2), r.hex(2), r.slice(2), r.uint(1), r.uint(2)]).toEqual([
      'AB',
      '1234',
      '00af',
      bytes('0102'),
      7,
      0x809,
    ])
  })

  it('peeks without taking', () => {
    const r = new ByteReader(bytes('2a'))
    expect([r.peek(), r.u8(), r.peek()]).toEqual([42, 42, -1])
  })

  it('refuses packed decimals with another digit', () => {
    expect(reasonOf(() => new ByteReader(bytes('1a')).bcd(1))).toBe('malformed')
  })

  it.each([
    ['u8', 1, (r: ByteReader) => r.u8()],
    ['i8', 1, (r: ByteReader) => r.i8()],
    ['u16', 2, (r: ByteReader) => r.u16()],
    ['u16le', 2, (r: ByteReader) => r.u16le()],
    ['i16', 2, (r: ByteReader) => r.i16()],
    ['i16le', 2, (r: ByteReader) => r.i16le()],
    ['u24', 3, (r: ByteReader) => r.u24()],
    ['u32', 4, (r: ByteReader) => r.u32()],
    ['u32le', 4, (r: ByteReader) => r.u32le()],
    ['i32', 4, (r: ByteReader) => r.i32()],
    ['i32le', 4, (r: ByteReader) => r.i32le()],
    ['u64', 8, (r: ByteReader) => r.u64()],
    ['u64le', 8, (r: ByteReader) => r.u64le()],
    ['f32', 4, (r: ByteReader) => r.f32()],
    ['f32le', 4, (r: ByteReader) => r.f32le()],
    ['f64', 8, (r: ByteReader) => r.f64()],
    ['hex', 5, (r: ByteReader) => r.hex(5)],
    ['bcd', 5, (r: ByteReader) => r.bcd(5)],
    ['ascii', 5, (r: ByteReader) => r.ascii(5)],
    ['slice', 5, (r: ByteReader) => r.slice(5)],
    ['skip', 5, (r: ByteReader) => r.skip(5)],
  ])("%s never reads a neighbour's bytes", (_, size, read) => {
    const neighbours = Buffer.alloc(64, 1)
    expect(reasonOf(() => read(new ByteReader(neighbours.subarray(8, 8 + size))))).toBeUndefined()
    expect(reasonOf(() => read(new ByteReader(neighbours.subarray(8, 8 + size - 1))))).toBe('truncated')
  })

  it('refuses to go back or nowhere', () => {
    const r = new ByteReader(Buffer.alloc(4)).skip(2)
    expect([-1, Number.NaN, Infinity, 2 ** 31].map((n) => reasonOf(() => r.skip(n)))).toEqual(
      Array.from({ length: 4 }, () => 'truncated'),
    )
    expect(r.position).toBe(2)
  })
})

describe('TextReader', () => {
  it('reads fields in order, empty ones too', () => {
    const r = new TextReader('a,,3.5,,b,c', ',')
    expect([r.next(), r.next(), r.number(), r.optionalNumber(), r.ended, r.rest()]).toEqual([
      'a',
      '',
      3.5,
      undefined,
      false,
      'b,c',
    ])
    expect([r.ended, r.rest(), r.optionalNumber()]).toEqual([true, '', undefined])
  })

  it('ends after the empty field behind a last separator', () => {
    const r = new TextReader('a;', ';')
    expect([r.next(), r.ended, r.next(), r.ended]).toEqual(['a', false, '', true])
  })

  it('takes separators of several characters', () => {
    const r = new TextReader('a::b:c', '::')
    expect([r.next(), r.next(), r.ended]).toEqual(['a', 'b:c', true])
  })

  it('refuses to read or skip behind the end', () => {
    expect(reasonOf(() => new TextReader('a', ',').skip(2))).toBe('truncated')
    expect(reasonOf(() => new TextReader('a,b', ',').skip(2).next())).toBe('truncated')
  })

  it.each(['', 'x', '1x', 'NaN', 'Infinity', '1e999'])('refuses "%s" as a number', (text) => {
    expect(reasonOf(() => number(text))).toBe('malformed')
  })

  it('reads numbers whole', () => {
    expect(['-1.50', '007', '1e3', '+4'].map(number)).toEqual([-1.5, 7, 1000, 4])
  })
})

describe('times', () => {
  const TIME = Date.UTC(2026, 10, 20, 6, 30, 15)

  it('come in several orders', () => {
    expect([utc(26, 11, 20, 6, 30, 15), utcYmd('261120063015'), utcDmy('201126', '063015')]).toEqual([TIME, TIME, TIME])
  })

  it.each([
    ['month 0', [26, 0, 20, 6, 30, 15]],
    ['month 13', [26, 13, 20, 6, 30, 15]],
    ['day 0', [26, 11, 0, 6, 30, 15]],
    ['31 November', [26, 11, 31, 6, 30, 15]],
    ['29 February 2026', [26, 2, 29, 6, 30, 15]],
    ['24 h', [26, 11, 20, 24, 0, 0]],
    ['60 min', [26, 11, 20, 6, 60, 0]],
    ['second 61', [26, 11, 20, 6, 30, 61]],
    ['a minute before the hour', [26, 11, 20, 6, -1, 0]],
    ['no number', [26, 11, 20, 6, 30, Number.NaN]],
  ] as const)('of %s are refused', (_, [year, month, day, hour, minute, second]) => {
    expect(reasonOf(() => utc(year, month, day, hour, minute, second))).toBe('malformed')
  })

  it('know leap years', () => {
    expect(utc(24, 2, 29, 0, 0, 0)).toBe(Date.UTC(2024, 1, 29))
    expect(reasonOf(() => utc(2100, 2, 29, 0, 0, 0))).toBe('malformed')
  })

  it.each(['26112006301', '26112006301x', '26-11-20 063015', ''])('are not "%s"', (text) => {
    expect(reasonOf(() => utcYmd(text))).toBe('malformed')
  })

  it.each([
    ['2026-11-20T06:30:15Z', TIME],
    ['2026-11-20T06:30:15.25Z', TIME + 250],
    ['2026-11-20 06:30:15', TIME],
    ['2026-11-20t09:30:15+03:00', TIME],
    ['2026-11-20T09:30:15+0300', TIME],
  ])('are RFC 3339: %s', (text, time) => {
    expect(rfc3339(text)).toBe(time)
  })

  it.each(['2026-11-20', '2026-13-20T06:30:15Z', '20.11.2026 06:30', 'now'])('are not "%s" in RFC 3339', (text) => {
    expect(reasonOf(() => rfc3339(text))).toBe('malformed')
  })

  it('are unix seconds, fractions too, or milliseconds', () => {
    expect([unixTime(TIME / 1000), unixTime(TIME / 1000 + 0.25), unixTime(TIME)]).toEqual([TIME, TIME + 250, TIME])
    expect(reasonOf(() => unixTime(Number.NaN))).toBe('malformed')
  })
})

describe('units', () => {
  it.each([
    ['km/h', kmh(90), 25],
    ['knots', knots(3600 / 1852), 1],
    ['mph', mph(100), 44.704],
    ['ddmm.mmmm', degreesMinutes(4916.45), 49 + 16.45 / 60],
    ['ddmm.mmmm, negative', degreesMinutes(-12311.12), -(123 + 11.12 / 60)],
  ])('%s', (_, value, expected) => {
    expect(value).toBeCloseTo(expected, 10)
  })

  it('turns a heading of 360 to 0, and knows none outside', () => {
    expect([0, 359.5, 360, 361, -1, Number.NaN, undefined].map(heading)).toEqual([
      0,
      359.5,
      0,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('framers', () => {
  it('end frames with a line feed or a byte, which is theirs', () => {
    expect([line(Buffer.from('ab\ncd')), line(Buffer.from('ab')), endsWith(0x23)(Buffer.from('*#'))]).toEqual([3, 0, 2])
  })

  it('trim what trails on the wire', () => {
    expect(trimEnd(Buffer.from('a b \r\n\0')).toString()).toBe('a b ')
    expect(trimEnd(Buffer.from('\r\n')).length).toBe(0)
  })

  it('cut a stream into frames, noise and the rest', () => {
    const { frames, rest, noise } = cut(
      Buffer.from('!!a\n!bc\nd'),
      (all) => (all[0] === 0x21 ? -1 : line(all)),
      undefined,
    )
    expect([frames.map(String), rest.toString(), noise]).toEqual([['a\n', 'bc\n'], 'd', 3])
  })

  it('cut no more of a stream than they are asked for', () => {
    const first = cut(Buffer.from('a\nb\nc\nd'), line, undefined, 2)
    expect([first.frames.map(String), first.rest.toString(), first.isStopped]).toEqual([['a\n', 'b\n'], 'c\nd', true])
    const second = cut(first.rest, line, undefined, 2)
    expect([second.frames.map(String), second.rest.toString()]).toEqual([['c\n'], 'd'])
    expect(cut(Buffer.from('a\nb'), line, undefined, 2).isStopped).toBe(false)
    expect(cut(Buffer.from('!!!a\n'), (all) => (all[0] === 0x21 ? -1 : line(all)), undefined, 2)).toMatchObject({
      noise: 2,
      isStopped: true,
    })
  })
})
