import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { withoutZeros } from '../../src/domain/ids.ts'
import { bytes, duration, int64, int64Mistake } from '../../src/domain/units.ts'
import { inEnglish } from '../support/texts.ts'

it.each([
  ['0s', 0],
  ['500ms', 500],
  ['1.5s', 1500],
  ['60s', 60_000],
  ['5m', 300_000],
  ['24h', 86_400_000],
  ['90d', 7_776_000_000],
])('duration reads %s', (text, ms) => expect(duration(text)).toBe(ms))

it.each(['', '5', '5 s', '-5s', '5w', '5S', '1e3s', 's'])('duration refuses "%s"', (text) =>
  expect(duration(text)).toBeUndefined(),
)

it.each([
  ['1048576', 1_048_576],
  ['64b', 64],
  ['512mb', 536_870_912],
  ['2GB', 2_147_483_648],
])('bytes reads %s', (text, size) => expect(bytes(text)).toBe(size))

it.each(['', '2g', '1.5gb', '-1', '999999999999999gb'])('bytes refuses "%s"', (text) =>
  expect(bytes(text)).toBeUndefined(),
)

it.each([
  ['7', '7'],
  ['0042', '42'],
  ['000', '0'],
  ['9223372036854775807', '9223372036854775807'],
  ['009223372036854775807', '9223372036854775807'],
])('int64 reads %s', (text, id) => expect(int64(text)).toBe(id))

it.each(['', '-1', '+7', '0x7', '7.0', '1e5', '٧', '9223372036854775808', '10000000000000000000'])(
  'int64 refuses "%s"',
  (text) => expect(int64(text)).toBeUndefined(),
)

it('int64 keeps every id exactly', () =>
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 63n - 1n), fc.nat(5), (id, zeros) => {
      expect(int64('0'.repeat(zeros) + id)).toBe(String(id))
    }),
  ))

it('int64Mistake names the limit', () =>
  expect(inEnglish(int64Mistake('9223372036854775808'))).toBe('expected an id of at most 9223372036854775807'))

it.each(['3.56307E+14', '3,56307E+14', '3E+14'])(
  'int64Mistake recognises an id that a spreadsheet has destroyed: %s',
  (text) =>
    expect(inEnglish(int64Mistake(text))).toBe(
      `"${text}" is an id that a spreadsheet has destroyed: format the column as text and enter the id again`,
    ),
)

it('withoutZeros keeps the last zero', () => expect([withoutZeros('0070'), withoutZeros('00')]).toEqual(['70', '0']))
