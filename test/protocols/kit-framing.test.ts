import { expect, it } from 'vitest'
import {
  between,
  cut,
  DecodeError,
  dialects,
  endsWith,
  escaped,
  type Framer,
  fixedLength,
  isEndless,
  lengthField,
  line,
  startsWith,
  trimEnd,
  whole,
} from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { framesOfParts, framesRough, newSession, reasonOf } from '../support/rough.ts'

const JT808 = escaped({
  flag: 0x7e,
  escape: 0x7d,
  codes: new Map([
    [1, 0x7d],
    [2, 0x7e],
  ]),
})

const MIXED = dialects([
  { when: '$$', frame: endsWith('\r\n'), decode: () => ({ none: 'text' }) },
  { when: ['((', 0x7e], frame: between(['((', 0x7e], ')'), decode: () => ({ none: 'brackets' }) },
])

it.each<[string, Framer, string, string[], string]>([
  ['line feeds', line, 'ab\r\n\r\n\ncd\n\re\n', ['ab\r\n', 'cd\n', '\re\n'], ''],
  ['one end', endsWith('##'), 'a#b##c##d', ['a#b##', 'c##'], 'd'],
  ['one byte', endsWith(0x23), '*#a', ['*#'], 'a'],
  ['several ends', endsWith('\r\n', '\n', ';', '*'), 'a;b*c\r\nd\n;', ['a;', 'b*', 'c\r\n', 'd\n'], ''],
  ['an end that begins like another', endsWith('#\r\n', '#', '\r\n'), 'a#\r\nb\r\nc#d', ['a#', 'b\r\n', 'c#'], 'd'],
  ['an end that comes twice', endsWith(';;', ';'), 'a;;b;', ['a;', 'b;'], ''],
  ['start and end', between('(', ')'), 'x(a)\r\n(b(c)y(', ['(a)', '(b(c)'], '('],
  ['the same start and end', between('$', '$'), '$a$$b$', ['$a$', '$b$'], ''],
  ['several starts and ends', between(['*HQ', '#'], ['##', ';']), '*HX*HQa##;#b;*H', ['*HQa##', '#b;'], '*H'],
  ['a fixed length', fixedLength(3), 'abcdefg', ['abc', 'def'], 'g'],
  ['a fixed length with a start', fixedLength(3, ['$', '!!']), 'x$bc!!f!g$', ['$bc', '!!f'], '$'],
  ['what arrives', whole, 'abc', ['abc'], ''],
  ['starts', startsWith('$A', '$B'), 'x$A1$$B2$', ['$A1$', '$B2'], '$'],
  ['dialects', MIXED.frame, 'x(~1)$$a)\r\n$((b)(~c)$', ['~1)', '$$a)\r\n', '((b)', '~c)'], '$'],
])('cuts a stream by %s', (_, framer, stream, frames, rest) => {
  const found = cut(Buffer.from(stream, 'latin1'), framer, newSession())
  expect([found.frames.map(String), found.rest.toString()]).toEqual([frames, rest])
  framesRough(framer, Buffer.from(stream, 'latin1'))
  if (!isEndless(framer)) expectSameWhereverCut(framer, Buffer.from(stream, 'latin1'))
})

it.each<[string, Framer, string, string[], string]>([
  [
    'one byte',
    lengthField({ start: 0x24, at: 1, width: 1, add: 2 }),
    '0024 02aabb 24 0024',
    ['2402aabb', '2400'],
    '24',
  ],
  ['two bytes', lengthField({ at: 0, width: 2, add: 2 }), '0001aa 0000 0002bb', ['0001aa', '0000'], '0002bb'],
  ['two little ones', lengthField({ at: 1, width: 2, endian: 'little', add: 3 }), '01 0100aa 02', ['010100aa'], '02'],
  ['four bytes', lengthField({ start: '~', at: 1, width: 4, add: 0 }), '7e00000006ff', ['7e00000006ff'], ''],
  [
    'a length beyond the most, or too small for its own field, begins no frame',
    lengthField({ start: [0x40, '++'], at: 1, width: 2, add: 0, most: 5 }),
    '400006 400002 2b2b40 40 0004ff 2b2b',
    ['400004ff'],
    '2b2b',
  ],
  [
    'a frame without its end is none',
    lengthField({ start: 0x78, at: 1, width: 1, add: 3, end: '!' }),
    '7801aa7801bb21',
    ['7801bb21'],
    '',
  ],
])('cuts a stream by a binary length field: %s', (_, framer, stream, frames, rest) => {
  const found = cut(bytes(stream), framer, newSession())
  expect([found.frames.map((each) => each.toString('hex')), found.rest.toString('hex')]).toEqual([frames, rest])
  framesRough(framer, bytes(stream))
  expectSameWhereverCut(framer, bytes(stream))
})

it.each<[string, Framer, string, string[], string]>([
  [
    'decimal digits',
    lengthField({ at: 0, width: 4, digits: 10, add: 4 }),
    '0003abc0000000',
    ['0003abc', '0000'],
    '000',
  ],
  [
    'hexadecimal digits',
    lengthField({ start: '$$', at: 2, width: 2, digits: 16, add: 4 }),
    '$$0Gx$$0cabcdefghijkl$$',
    ['$$0cabcdefghijkl'],
    '$$',
  ],
  [
    'digits up to a comma, which is counted',
    lengthField({ start: '@@', at: 3, width: 4, digits: 10, until: ',', add: 0, end: '\r\n' }),
    '@@A,x@@A12345,@@A6,abc\r\n@@B7,abc\r\n@@C5,',
    ['@@A6,abc\r\n'],
    '@@C5,',
  ],
])('cuts a stream by a length field of text: %s', (_, framer, stream, frames, rest) => {
  const found = cut(Buffer.from(stream), framer, newSession())
  expect([found.frames.map(String), found.rest.toString()]).toEqual([frames, rest])
  framesRough(framer, Buffer.from(stream))
  expectSameWhereverCut(framer, Buffer.from(stream))
})

it('cuts a stream between flags, and removes and adds the escapes of its content', () => {
  const stream = bytes('24 7e30 7d02 08 7d01 557e 7e 7e 01 05 7e 0d0a 7e02')
  const { frames, rest, noise } = cut(stream, JT808.frame, newSession())
  expect(frames.map((frame) => JT808.content(frame).toString('hex'))).toEqual(['307e087d55', '0105'])
  expect([rest.toString('hex'), noise]).toEqual(['7e02', 4])
  expect(JT808.wrap(bytes('307e087d55'))).toEqual(bytes('7e307d02087d01557e'))
  expectSameWhereverCut(JT808.frame, stream)
  for (const damaged of ['7e017d057e', '7e017d7e'])
    expect(reasonOf(() => JT808.content(bytes(damaged)))).toBe('malformed')
})

it('isEndless is true for framers that take what arrives in one part', () => {
  expect([whole, startsWith('$'), line].map(isEndless)).toEqual([true, true, false])
})

it('trimEnd removes line ends and NUL bytes, and keeps blanks', () => {
  expect(trimEnd(Buffer.from('a b \r\n\0')).toString()).toBe('a b ')
  expect(trimEnd(Buffer.from('\r\n')).length).toBe(0)
})

it('cut stops after a given number of framer calls or bytes', () => {
  const session = newSession()
  const first = cut(Buffer.from('a\nb\nc\nd'), line, session, 2)
  expect([first.frames.map(String), first.rest.toString(), first.isStopped]).toEqual([['a\n', 'b\n'], 'c\nd', true])
  const second = cut(first.rest, line, session, 2)
  expect([second.frames.map(String), second.rest.toString()]).toEqual([['c\n'], 'd'])
  expect(cut(Buffer.from('a\nb'), line, session, 2).isStopped).toBe(false)
  expect(cut(Buffer.from('aa\nb\nc'), line, session, 9, 2)).toMatchObject({ frames: [{}], isStopped: true })
  expect(cut(Buffer.from('\n\n\na\n'), fixedLength(2, 'a'), session, 1)).toMatchObject({ noise: 3, isStopped: true })
})

it.each<[string, Framer, string, string]>([
  ['one end', endsWith('#'), 'a', '#'],
  ['an end of several bytes', endsWith('##'), 'a#b', '##'],
  ['several ends', endsWith('\r\n', ';', '!!'), 'a\r', '!!'],
  ['flags', JT808.frame, '~', '~'],
])('searches each byte once for an end that is far away: %s', (_, framer, start, end) => {
  const stream = Buffer.from(`${start}${' '.repeat(20_000)}${end}`)
  const session = newSession()
  expect(framer(stream.subarray(0, 10_000), session)).toBe(0)
  // A framer that searched these bytes again would find this end.
  stream.write(end, 5000)
  for (let length = 10_001; length < stream.length; length++)
    expect(framer(stream.subarray(0, length), session)).toBe(0)
  expect(framer(stream, session)).toBe(stream.length)
  expect(framer(stream, session)).toBe(5000 + end.length)
})

it('finds the end in another stream of the same session', () => {
  const session = newSession()
  const other = Buffer.from(`b#${'b'.repeat(3000)}`)
  expect([endsWith('#')(Buffer.alloc(2000, 'a'), session), endsWith('#')(other, session)]).toEqual([0, 2])
  const framer = endsWith('#')
  expect([framer(Buffer.alloc(2000, 'a'), session), framer(other, session)]).toEqual([0, 2])
  expect([framer(Buffer.alloc(2000, 'a'), session), framer(Buffer.from('b#'), session)]).toEqual([0, 2])
})

it('dialects decode a frame with the decoder of the dialect that fits', () => {
  expect([MIXED.decode(Buffer.from('$$1'), newSession()), MIXED.decode(Buffer.from('~1)'), newSession())]).toEqual([
    { none: 'text' },
    { none: 'brackets' },
  ])
  expect(reasonOf(() => MIXED.decode(Buffer.from('x'), newSession()))).toBe('unsupported')
  expect(reasonOf(() => MIXED.decode(Buffer.from('$'), newSession()))).toBe('unsupported')
})

it('dialects can be told apart by a function, and the last one takes the rest', () => {
  const { frame, decode } = dialects([
    { when: (all) => (all.length < 2 ? 'maybe' : all[1] === 1), frame: fixedLength(4) },
    { frame: line, decode: () => ({ none: 'line' }) },
  ])
  const found = cut(bytes('00 01 02 03 61 62 0a 00'), frame, newSession())
  expect([found.frames.map((each) => each.length), found.rest.length]).toEqual([[4, 3], 1])
  expect(decode(Buffer.from('ab\n'), newSession())).toEqual({ none: 'line' })
  expect(() => decode(bytes('00010203'), newSession())).toThrow(DecodeError)
})

function expectSameWhereverCut(framer: Framer, stream: Buffer): void {
  const inOnePart = framesOfParts(framer, stream, 0)
  for (let at = 1; at < stream.length; at++)
    expect(framesOfParts(framer, stream, at), `cut at ${at}`).toEqual(inOnePart)
}
