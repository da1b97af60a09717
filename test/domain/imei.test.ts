import { expect, it } from 'vitest'
import { isImei } from '../../src/domain/ids.ts'
import { readDeviceId } from '../../src/domain/imei.ts'
import { inEnglish } from '../support/texts.ts'

const IMEI = '356307042441013'
const ROUNDED = 'a spreadsheet has rounded this id'
const read = (cell: string) => inEnglish(readDeviceId(cell))

it.each([
  ['as it is', IMEI],
  ['with an apostrophe', `'${IMEI}`],
  ['as a formula', `="${IMEI}"`],
  ['with a decimal point', `${IMEI}.0`],
  ['with a decimal comma', `${IMEI},00`],
  ['with hyphens', '35-630704-244101-3'],
  ['with blanks', '356307 04 244101 3'],
  ['with blanks around it', ` ${IMEI}\u00a0`],
])('the id in a cell is read without a doubt %s', (_, cell) => {
  expect(read(cell)).toEqual({ id: IMEI })
})

it('the id in a cell gets its check digit if it has 14 digits', () => {
  expect(read(IMEI.slice(0, -1))).toEqual({ id: IMEI, repaired: '14 digits: the check digit 3 is added' })
})

it('the id in a cell stays unchanged if only a leading zero is missing', () => {
  expect(isImei('012345678901237')).toBe(true)
  expect(read('12345678901237')).toEqual({ id: '12345678901237' })
})

it.each([
  ['3.56307E+14', '356307'],
  ['3,56307E+14', '356307'],
  ['3.54E+14', '354'],
])('the id in a cell is in doubt if a spreadsheet shows %s', (cell, prefix) => {
  expect(read(cell)).toEqual({ doubt: ROUNDED, prefix })
})

it('the id in a cell is in doubt if its last digits were rounded', () => {
  expect(read('354194000000000')).toEqual({ id: '354194000000000', doubt: ROUNDED, prefix: '354194' })
})

it('the id in a cell is in doubt if its check digit is wrong', () => {
  expect(read('356307042441014').doubt).toBe('its last digit does not fit: a digit of this IMEI is wrong')
})

it.each(['van-12', 'AB.12', '867232', '1234567890123456'])('the id in a cell can be %s', (id) => {
  expect(read(id)).toEqual({ id })
})
