import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseCsv } from '../../src/config/csv.ts'
import { inEnglish } from '../support/texts.ts'

function rows(text: string) {
  return [...(parseCsv(text)?.rows ?? [])]
}

it.each([
  ['commas', 'a,b\n1,2\n'],
  ['semicolons', 'a;b\n1;2\n'],
  ['tabs', 'a\tb\n1\t2\n'],
  ['CRLF', 'a,b\r\n1,2\r\n'],
  ['CR', 'a,b\r1,2\r'],
  ['a byte order mark', '\ufeffa,b\n1,2'],
  ['spaces', ' A , b\n 1 , 2 '],
  ['quoted cells', '"a","b"\n"1" , "2"\n'],
  ['too many empty cells', 'a,b\n1,2,,\n'],
])('parseCsv cuts a file with %s into cells', (_, text) => {
  expect(parseCsv(text)?.columns).toEqual(['a', 'b'])
  expect(rows(text).map(({ cells, line }) => ({ cells, line }))).toEqual([{ cells: ['1', '2'], line: 2 }])
})

it.each([
  ['UTF-16', Buffer.from('\ufeffa,b\n1,2\n', 'utf16le')],
  ['UTF-16 with the high byte first', Buffer.from('\ufeffa,b\n1,2\n', 'utf16le').swap16()],
  ['UTF-16 without a byte order mark', Buffer.from('a,b\n1,2\n', 'utf16le')],
])('parseCsv reports a file in %s', (_, bytes) =>
  expect(inEnglish(parseCsv(bytes.toString()))).toEqual({
    at: 0,
    columns: [],
    rows: [],
    mistake: 'not UTF-8: save the file as "CSV UTF-8"',
  }),
)
it('parseCsv uses the delimiter that occurs most often in the header', () =>
  expect(rows('a;b;c,d\n1,5;2;3')[0].cells).toEqual(['1,5', '2', '3']))
it('parseCsv skips empty lines, comments and lines of delimiters, but counts them', () =>
  expect(rows('# all\n\na,b\n,\n#1,2\n3,4').map(({ cells, line }) => [line, ...cells])).toEqual([[6, '3', '4']]))
it('parseCsv fills short lines with empty cells', () => expect(rows('a,b,c\n1')[0].cells).toEqual(['1', '', '']))
it('parseCsv reports lines with too many cells', () =>
  expect(rows('a,b\n1,2,3\n4,5').map(({ mistake }) => inEnglish(mistake))).toEqual([
    '3 cells, but the header has 2',
    undefined,
  ]))
it.each(['"1,2', '"1"x,2', '1,"2', '"1""'])(
  'parseCsv reports only the line with a misplaced quotation mark: %s',
  (line) =>
    expect(rows(`a,b\n${line}\n4,5`).map(({ mistake }) => inEnglish(mistake))).toEqual([
      'misplaced quotation mark',
      undefined,
    ]),
)
it('parseCsv reports only the line that is too long', () =>
  expect(rows(`a,b\n1,${'2'.repeat(65_536)}\n4,5`).map(({ mistake }) => inEnglish(mistake))).toEqual([
    'this line has more than 65536 characters',
    undefined,
  ]))
it('parseCsv keeps a quotation mark inside a cell', () => expect(rows('a,b\nVan 12",2')[0].cells[0]).toBe('Van 12"'))
it.each(['', '\n', '\ufeff', '# only a comment\n'])('parseCsv returns nothing for %j', (text) =>
  expect(parseCsv(text)).toBeUndefined(),
)

it('parseCsv reads back cells that are written in quotation marks', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\t', '#', ' ', 'ü') }).map((text) => text.trim())
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), (written) => {
      const quoted = written.map((line) => line.map((text) => `"${text.replaceAll('"', '""')}"`).join(','))
      const filled = written.filter((line) => line.some((text) => text !== ''))
      expect(rows(`a,b\n${quoted.join('\r\n')}`).map(({ cells }) => cells)).toEqual(filled)
    }),
  )
})
