import { expect, it } from 'vitest'
import { isImei, slipBetween } from '../../src/domain/ids.ts'

const IMEI = '356307042441013'

it.each([
  ['two neighbours swapped', '356307024441013', 'swapped'],
  ['one wrong digit, and so a wrong check digit', '356307042441913', 'wrong'],
  ['a wrong check digit', '356307042441018', 'wrong'],
  ['a digit too few', '35630704241013', 'missing'],
  ['the check digit left out', '35630704244101', 'missing'],
  ['the neighbour in the box: serial number and check digit', '356307042441021', undefined],
  ['the same digits', IMEI, undefined],
  ['two wrong digits', '356307042442017', undefined],
  ['a digit too many', '3563070424410133', undefined],
  ['a name', 'van-12', undefined],
])('slipBetween says how a typed id differs: %s', (_, typed, slip) => {
  expect(slipBetween(typed, IMEI)).toBe(slip)
})

it('slipBetween ignores other digits without a check digit, in a wrong IMEI, and between two right IMEIs', () => {
  expect(slipBetween('9170412012', '9170412013')).toBeUndefined()
  expect(slipBetween('356307042441013', '356307042441018')).toBeUndefined()
  expect(slipBetween('356307042400290', '356307042400209')).toBeUndefined()
  expect(slipBetween('9170412021', '9170412012')).toBe('swapped')
  expect(slipBetween('12', '21')).toBeUndefined()
})

it('isImei checks the check digit', () => {
  expect([IMEI, '356307042441014', '35630704244101', undefined].map(isImei)).toEqual([true, false, false, false])
})
