import { expect, it } from 'vitest'
import { readRoutes } from '../../src/config/routes.ts'
import { isSpreadsheet, spreadsheetText } from '../../src/config/xlsx.ts'
import { inEnglish } from '../support/texts.ts'
import { SheetDate, sheetFiles, zip } from '../support/xlsx.ts'

const sheet = (rows: Parameters<typeof sheetFiles>[0]) => spreadsheetText(zip(sheetFiles(rows)))

it('a spreadsheet is read as a roster: ids with their digits, dates as local times, rows with their numbers', async () => {
  const text = await sheet([
    ['Fahrzeug', 'Fahrer', 'Tour', 'Von', 'Bis'],
    ['Van 12', 42, 1002, new SheetDate('2026-11-20 06:00'), new SheetDate('2026-11-20 20:00')],
    [null, null, null, null, null],
    [356307042441013, '9223372036854775807', 2001, '2026-11-20T06:00:00Z', null],
    ['Van, "14"', 43, 2 ** 60, new SheetDate('2026-11-20'), null],
  ])
  const { rows, mistakes } = await readRoutes({ name: 'roster', text }, 'UTC')
  expect(rows).toMatchObject([
    { line: 2, device: 'Van 12', courier_id: '42', route_id: '1002', from: Date.UTC(2026, 10, 20, 6) / 1000 },
    { line: 4, device: '356307042441013', courier_id: '9223372036854775807', route_id: '2001' },
  ])
  expect(inEnglish(mistakes).map(({ key, message }) => `${key}: ${message}`)).toEqual([
    'route_id: "1.15292E+18" is an id that a spreadsheet has destroyed: format the column as text and enter the id again',
  ])
})

it('a spreadsheet can have days in place of times', async () => {
  const text = await sheet([
    ['device', 'route_id', 'Datum'],
    ['Van 12', 1, new SheetDate('2026-11-20')],
  ])
  expect((await readRoutes({ name: 'roster', text }, 'UTC')).rows).toHaveLength(1)
})

it('a spreadsheet is recognised by its first bytes', () => {
  expect([zip({}), zip(sheetFiles([])), Buffer.from('device,route_id\n')].map(isSpreadsheet)).toEqual([
    false,
    true,
    false,
  ])
})

const ZEROS = Buffer.alloc(33 * 1024 * 1024)
const FAR = '<worksheet><sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData></worksheet>'
const FILES = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`${n}`, '']))

it.each([
  ['has macros', zip({ ...sheetFiles([]), 'xl/vbaProject.bin': 'x' }), /has macros: save it as .xlsx/],
  ['is another archive', zip({ 'word/document.xml': '<x/>' }), /a ZIP archive, and not an .xlsx spreadsheet/],
  [
    'would be huge unpacked',
    zip({ ...sheetFiles([]), 'xl/worksheets/sheet1.xml': ZEROS }),
    /would have 34 MiB unpacked: at most 32 are read/,
  ],
  [
    'says that it is small',
    zip({ ...sheetFiles([]), 'xl/worksheets/sheet1.xml': ZEROS }, { 'xl/worksheets/sheet1.xml': 100 }),
    /another size than its directory says/,
  ],
  ['has a thousand files', zip({ ...sheetFiles([]), ...FILES }), /consists of 10\d\d files/],
  [
    'has a cell far out',
    zip({ ...sheetFiles([]), 'xl/worksheets/sheet1.xml': FAR }),
    /takes (too much memory|longer than 20 s) to read/,
  ],
  ['is large', Buffer.concat([zip(sheetFiles([])), Buffer.alloc(5 * 1024 * 1024)]), /more than 4 MiB/],
  ['is cut off', zip(sheetFiles([['device']])).subarray(0, -30), /cannot be read: its end is missing/],
  ['is an .xls file', Buffer.from('d0cf11e0a1b11ae100', 'hex'), /an .xls file, or one with a password/],
  ['has no sheet', zip({ 'xl/workbook.xml': '<workbook/>' }), /the spreadsheet cannot be read/],
  ['is no XML', zip({ ...sheetFiles([]), 'xl/worksheets/sheet1.xml': '<<<' }), /the spreadsheet cannot be read/],
])('a spreadsheet is refused with a sentence: %s', async (_, bytes, message) => {
  await expect(spreadsheetText(bytes)).rejects.toThrow(message)
})
