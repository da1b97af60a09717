import { expect, it } from 'vitest'
import {
  ByteReader,
  bytesDmy,
  bytesYmd,
  crc,
  crc8Egts,
  crc8Maxim,
  crc8Smbus,
  crc16Arc,
  crc16CcittFalse,
  crc16Kermit,
  crc16Mcrf4xx,
  crc16Modbus,
  crc16X25,
  crc16Xmodem,
  crc32,
  degreesMinutes,
  digitsDegreesMinutes,
  dop,
  heading,
  imeiOf14,
  kmh,
  knots,
  mph,
  number,
  pairs,
  radians,
  rfc3339,
  secondsSince,
  sum8,
  sum16,
  TextReader,
  timeOfDayNear,
  unixTime,
  utc,
  utcDmy,
  utcYmd,
  withoutYearNear,
  xor,
  xorOfText,
} from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { reasonOf } from '../support/rough.ts'

const DIGITS = Buffer.from('123456789')
const crc16Dnp = crc({ width: 16, polynomial: 0x3d65, initial: 0, reflected: true, xorOut: 0xffff })
const crc32Mpeg2 = crc({ width: 32, polynomial: 0x04c11db7, initial: 0xffffffff, reflected: false, xorOut: 0 })
const crc32Iso = crc({ width: 32, polynomial: 0x04c11db7, initial: 0xffffffff, reflected: true, xorOut: 0xffffffff })

it.each([
  ['CRC-16/ARC', crc16Arc, 0xbb3d],
  ['CRC-16/X-25', crc16X25, 0x906e],
  ['CRC-16/MODBUS', crc16Modbus, 0x4b37],
  ['CRC-16/CCITT-FALSE', crc16CcittFalse, 0x29b1],
  ['CRC-16/KERMIT', crc16Kermit, 0x2189],
  ['CRC-16/XMODEM', crc16Xmodem, 0x31c3],
  ['CRC-16/MCRF4XX', crc16Mcrf4xx, 0x6f91],
  ['CRC-16/DNP, by its parameters', crc16Dnp, 0xea82],
  ['CRC-8/NRSC-5, of EGTS', crc8Egts, 0xf7],
  ['CRC-8/SMBUS', crc8Smbus, 0xf4],
  ['CRC-8/MAXIM-DOW', crc8Maxim, 0xa1],
  ['CRC-32/ISO-HDLC', crc32, 0xcbf43926],
  ['CRC-32/ISO-HDLC, by its parameters', crc32Iso, 0xcbf43926],
  ['CRC-32/MPEG-2, by its parameters', crc32Mpeg2, 0x0376e6e7],
  ['exclusive or', xor, 0x31],
  [
    'exclusive or of a text',
    (content: Uint8Array) => xorOfText(`>${Buffer.from(content).toString()}<`, 1, content.length + 1),
    0x31,
  ],
  ['sum of eight bits', sum8, 0xdd],
  ['sum of sixteen bits', sum16, 0x1dd],
])('a checksum gives its published check value: %s', (_, checksum, value) => {
  expect(checksum(DIGITS)).toBe(value)
})

it('a checksum covers only the bytes of the view that it is given', () => {
  expect(crc16Arc(Buffer.from('x123456789x').subarray(1, -1))).toBe(0xbb3d)
  expect([crc16Arc(Buffer.alloc(0)), crc16X25(Buffer.alloc(0)), xor(Buffer.alloc(0))]).toEqual([0, 0, 0])
})

it('ByteReader reads values in wire order', () => {
  const r = new ByteReader(bytes('ff fe 0102 0102 fffe feff 010203 01020304 01020304 fffffffe feffffff'))
  expect([r.u8(), r.i8(), r.u16(), r.u16le(), r.i16(), r.i16le()]).toEqual([255, -2, 0x102, 0x201, -2, -2])
  expect([r.u24(), r.u32(), r.u32le(), r.i32(), r.i32le()]).toEqual([0x10203, 0x1020304, 0x4030201, -2, -2])
  expect([r.left, r.position]).toEqual([0, 29])
})

it('ByteReader reads unsigned values with the highest bit set, and 64-bit values up to 2^53 exactly', () => {
  const r = new ByteReader(bytes('ffffffff feffffff 001fffffffffffff ffffffffffff1f00'))
  expect([r.u32(), r.u32le(), r.u64(), r.u64le()]).toEqual([2 ** 32 - 1, 2 ** 32 - 2, 2 ** 53 - 1, 2 ** 53 - 1])
})

it('ByteReader reads fractions', () => {
  const r = new ByteReader(bytes('3fc00000 0000c03f 3ff8000000000000'))
  expect([r.f32(), r.f32le(), r.f64()]).toEqual([1.5, 1.5, 1.5])
})

it('ByteReader reads text, packed decimals, hexadecimal digits and views', () => {
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

it('ByteReader reads integers of any width in both byte orders', () => {
  const r = new ByteReader(bytes('010203 fffffe feffff 07 0807 010000000002 020000000001'))
  expect([r.u24le(), r.i24(), r.i24le(), r.uint(1), r.uintle(2), r.uint(6), r.uintle(6)]).toEqual([
    0x30201,
    -2,
    -2,
    7,
    0x708,
    2 ** 40 + 2,
    2 ** 40 + 2,
  ])
  const ids = new ByteReader(bytes('ffffffffffffffff 0100000000000080 000000000000f83f'))
  expect([ids.digits64(), ids.digits64le(), ids.f64le()]).toEqual(['18446744073709551615', '9223372036854775809', 1.5])
})

it('ByteReader reads at a position without moving, and text up to a byte', () => {
  const r = new ByteReader(Buffer.from('ab,c,'))
  expect([r.at(3).ascii(1), r.position, r.asciiUntil(0x2c), r.left, r.asciiUntil(0x2c)]).toEqual(['c', 0, 'ab', 2, 'c'])
  expect([r.left, r.at(3).asciiUntil(0x3b), r.at(1).slice().toString()]).toEqual([0, 'c,', 'b,c,'])
})

it('ByteReader reads a part, or ahead, with a cursor of its own', () => {
  const r = new ByteReader(Buffer.from('ab,cd,ef')).skip(1)
  const part = r.part(4)
  expect([part.left, part.at(1).ascii(1), part.ahead(2).asciiUntil(0x2c), part.asciiUntil(0x3b)]).toEqual([
    4,
    ',',
    'cd',
    'b,cd',
  ])
  expect([part.left, part.peek(), part.position, r.position, r.ahead(1).ascii(2)]).toEqual([0, -1, 4, 5, 'ef'])
  expect([() => part.u8(), () => r.part(4), () => r.ahead(4), () => part.at(5)].map(reasonOf)).toEqual(
    Array.from({ length: 4 }, () => 'truncated'),
  )
})

it('ByteReader peeks at a byte without taking it', () => {
  const r = new ByteReader(bytes('2a'))
  expect([r.peek(), r.u8(), r.peek()]).toEqual([42, 42, -1])
})

it('ByteReader refuses packed decimals with a digit above 9', () => {
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
  ['u24le', 3, (r: ByteReader) => r.u24le()],
  ['i24', 3, (r: ByteReader) => r.i24()],
  ['i24le', 3, (r: ByteReader) => r.i24le()],
  ['uint', 5, (r: ByteReader) => r.uint(5)],
  ['uintle', 5, (r: ByteReader) => r.uintle(5)],
  ['f64le', 8, (r: ByteReader) => r.f64le()],
  ['digits64', 8, (r: ByteReader) => r.digits64()],
  ['digits64le', 8, (r: ByteReader) => r.digits64le()],
  ['at', 5, (r: ByteReader) => r.at(5)],
  ['part', 5, (r: ByteReader) => r.part(5)],
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
])('ByteReader does not read beyond its bytes: %s', (_, size, read) => {
  const neighbours = Buffer.alloc(64, 1)
  expect(reasonOf(() => read(new ByteReader(neighbours.subarray(8, 8 + size))))).toBeUndefined()
  expect(reasonOf(() => read(new ByteReader(neighbours.subarray(8, 8 + size - 1))))).toBe('truncated')
})

it('ByteReader refuses to skip backwards or beyond its end', () => {
  const r = new ByteReader(Buffer.alloc(4)).skip(2)
  expect([-1, Number.NaN, Infinity, 2 ** 31].map((n) => reasonOf(() => r.skip(n)))).toEqual(
    Array.from({ length: 4 }, () => 'truncated'),
  )
  expect(r.position).toBe(2)
})

it('TextReader reads fields in order, empty ones too', () => {
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

it('TextReader reads an empty field behind the last separator, then ends', () => {
  const r = new TextReader('a;', ';')
  expect([r.next(), r.ended, r.next(), r.ended]).toEqual(['a', false, '', true])
})

it('TextReader accepts separators of several characters', () => {
  const r = new TextReader('a::b:c', '::')
  expect([r.next(), r.next(), r.ended]).toEqual(['a', 'b:c', true])
})

it('TextReader refuses to read or skip beyond the end', () => {
  expect(reasonOf(() => new TextReader('a', ',').skip(2))).toBe('truncated')
  expect(reasonOf(() => new TextReader('a,b', ',').skip(2).next())).toBe('truncated')
})

it.each(['', 'x', '1x', 'NaN', 'Infinity', '1e999'])('number refuses the text "%s"', (text) => {
  expect(reasonOf(() => number(text))).toBe('malformed')
})

it('number reads a sign, leading zeros, a fraction and an exponent', () => {
  expect(['-1.50', '007', '1e3', '+4'].map(number)).toEqual([-1.5, 7, 1000, 4])
})

it('pairs returns values by name in any order, and leaves out a value without a name', () => {
  expect([...pairs('A:1, B:2:3,,C,:4,A:5', ',', ':')]).toEqual([
    ['A', '5'],
    ['B', '2:3'],
  ])
})

const TIME = Date.UTC(2026, 10, 20, 6, 30, 15)

it('utc, utcYmd and utcDmy read a time in their order of fields', () => {
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
] as const)('utc refuses a time with an impossible part: %s', (_, [year, month, day, hour, minute, second]) => {
  expect(reasonOf(() => utc(year, month, day, hour, minute, second))).toBe('malformed')
})

it.each([0, 0xff])('utc returns NaN for a clock that was never set: every part is %i', (nothing) => {
  expect(utc(nothing, nothing, nothing, nothing, nothing, nothing)).toBe(Number.NaN)
})

it('utc accepts 29 February only in a leap year', () => {
  expect(utc(24, 2, 29, 0, 0, 0)).toBe(Date.UTC(2024, 1, 29))
  expect(reasonOf(() => utc(2100, 2, 29, 0, 0, 0))).toBe('malformed')
})

it.each(['26112006301', '26112006301x', '26-11-20 063015', ''])('utcYmd refuses the text "%s"', (text) => {
  expect(reasonOf(() => utcYmd(text))).toBe('malformed')
})

it.each([
  ['2026-11-20T06:30:15Z', TIME],
  ['2026-11-20T06:30:15.25Z', TIME + 250],
  ['2026-11-20 06:30:15', TIME],
  ['2026-11-20t09:30:15+03:00', TIME],
  ['2026-11-20T09:30:15+0300', TIME],
])('rfc3339 reads %s', (text, time) => {
  expect(rfc3339(text)).toBe(time)
})

it.each(['2026-11-20', '2026-13-20T06:30:15Z', '20.11.2026 06:30', 'now'])('rfc3339 refuses "%s"', (text) => {
  expect(reasonOf(() => rfc3339(text))).toBe('malformed')
})

it('bytesYmd and bytesDmy read a time of six bytes', () => {
  const r = new ByteReader(bytes('1a0b14061e0f 140b1a061e0f'))
  expect([bytesYmd(r), bytesDmy(r)]).toEqual([TIME, TIME])
  expect(reasonOf(() => bytesYmd(new ByteReader(bytes('1a0d14061e0f'))))).toBe('malformed')
})

it('secondsSince counts the seconds from the start of a year', () => {
  expect([secondsSince(2010)(1), secondsSince(1970)(TIME / 1000)]).toEqual([Date.UTC(2010, 0, 1, 0, 0, 1), TIME])
})

it('timeOfDayNear takes the day that brings a time of day nearest to another time', () => {
  const midnight = Date.UTC(2026, 10, 20)
  const minutes = 60_000
  expect([
    timeOfDayNear(23.9 * 60 * minutes, midnight + minutes),
    timeOfDayNear(minutes, midnight - minutes),
    timeOfDayNear(6.5 * 60 * minutes, TIME),
  ]).toEqual([midnight - 6 * minutes, midnight + minutes, midnight + 6.5 * 60 * minutes])
})

it('withoutYearNear takes the latest year up to a day after another time', () => {
  const newYear = Date.UTC(2026, 0, 1)
  expect([
    withoutYearNear([12, 31, 23, 59, 59], newYear),
    withoutYearNear([1, 1, 0, 0, 0], newYear - 1000),
    withoutYearNear([1, 3, 0, 0, 0], newYear),
    withoutYearNear([12, 30, 0, 0, 0], newYear - 86_400_000),
    withoutYearNear([2, 29, 0, 0, 0], newYear),
    withoutYearNear([2, 29, 0, 0, 0], Date.UTC(2028, 2, 1)),
  ]).toEqual([
    newYear - 1000,
    newYear,
    Date.UTC(2025, 0, 3),
    Date.UTC(2025, 11, 30),
    Date.UTC(2024, 1, 29),
    Date.UTC(2028, 1, 29),
  ])
  expect(reasonOf(() => withoutYearNear([2, 30, 0, 0, 0], newYear))).toBe('malformed')
})

it('unixTime reads seconds, seconds with a fraction, and milliseconds', () => {
  expect([unixTime(TIME / 1000), unixTime(TIME / 1000 + 0.25), unixTime(TIME)]).toEqual([TIME, TIME + 250, TIME])
  expect(reasonOf(() => unixTime(Number.NaN))).toBe('malformed')
})

it.each([
  ['km/h', kmh(90), 25],
  ['knots', knots(3600 / 1852), 1],
  ['knots without end', Number.isFinite(knots(Number.MAX_VALUE)) ? 1 : 0, 1],
  ['mph', mph(100), 44.704],
  ['radians', radians(Math.PI / 4), 45],
  ['ddmm.mmmm', degreesMinutes(4916.45), 49 + 16.45 / 60],
  ['ddmmmmmm in decimals', digitsDegreesMinutes('22345678', 2), 22 + 34.5678 / 60],
  ['dddmmmmmm in decimals', digitsDegreesMinutes('113451234', 3), 113 + 45.1234 / 60],
  ['ddmm.mmmm, negative', degreesMinutes(-12311.12), -(123 + 11.12 / 60)],
])('converts a value to metres per second or degrees: %s', (_, value, expected) => {
  expect(value).toBeCloseTo(expected, 10)
})

it.each(['1a345678', '2234', ''])('digitsDegreesMinutes refuses "%s"', (digits) => {
  expect(reasonOf(() => digitsDegreesMinutes(digits, 2))).toBe('malformed')
})

it('dop leaves out a dilution of precision of 0 or less', () => {
  expect([1.2, 0, -1, undefined, Number.NaN].map(dop)).toEqual([1.2, undefined, undefined, undefined, undefined])
})

it('imeiOf14 appends the check digit to 14 digits, and refuses any other text', () => {
  expect(['49015420323751', '35630704244101', '35854203000000'].map(imeiOf14)).toEqual([
    '490154203237518',
    '356307042441013',
    '358542030000003',
  ])
  expect(
    ['4901542032375', '490154203237518', '4901542032375a'].map((digits) => reasonOf(() => imeiOf14(digits))),
  ).toEqual(['malformed', 'malformed', 'malformed'])
})

it('heading turns 360 into 0, and leaves out angles outside 0 to 360', () => {
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
