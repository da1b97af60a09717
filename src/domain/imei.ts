import { say, type Text } from '../texts/text.ts'
import { isDigits } from './ids.ts'
import { isScientific } from './units.ts'

/** What a cell of a spreadsheet says of the id of a device. */
export interface IdReading {
  /** The id; absent where the cell has none that could be used as it is. */
  readonly id?: string
  /** How the cell was changed: the id is certain. */
  readonly repaired?: Text
  /** Why the id may not be the one that was meant. */
  readonly doubt?: Text
  /** Of a rounded IMEI the digits that are left. */
  readonly prefix?: string
}

/**
 * Reads the id of a device from a cell. An apostrophe, `="…"`, `.0`, and blanks and hyphens between digits are dropped.
 * 14 digits get their check digit. An IMEI that was rounded, or has a wrong check digit, is in doubt.
 */
export function readDeviceId(cell: string): IdReading {
  const text = bareId(cell)
  if (isScientific(text)) {
    const [mantissa, exponent] = text.toUpperCase().split('E+')
    const digits = mantissa.replace(/[.,]/, '')
    const isWhole = digits.length === Number(exponent) + 1
    return { doubt: say('a spreadsheet has rounded this id'), prefix: isWhole ? undefined : digits.replace(/0+$/, '') }
  }
  if (!isDigits(text)) return { id: text }
  if (text.length === IMEI_DIGITS && ROUNDED.test(text))
    return { id: text, doubt: say('a spreadsheet has rounded this id'), prefix: text.replace(/0+$/, '') }
  if (text.length === IMEI_DIGITS && !isImei(text))
    return { id: text, doubt: say('its last digit does not fit: a digit of this IMEI is wrong') }
  if (text.length === IMEI_DIGITS - 1 && ROUNDED.test(text))
    return { id: text, doubt: say('a spreadsheet has rounded this id'), prefix: text.replace(/0+$/, '') }
  // A spreadsheet drops a leading zero, which ids do not need.
  if (text.length !== IMEI_DIGITS - 1 || isImei(`0${text}`)) return { id: text }
  const id = text + checkDigit(text)
  return { id, repaired: say('14 digits: the check digit {} is added', checkDigit(text)) }
}

/** Whether a text is 15 digits with the right check digit. */
export function isImei(text: string): boolean {
  return text.length === IMEI_DIGITS && isDigits(text) && checkDigit(text.slice(0, -1)) === text.at(-1)
}

/** Whether two ids of the same length differ in one digit, or in two neighbours that are swapped. */
export function isMistyped(one: string, other: string): boolean {
  if (one.length !== other.length) return false
  const at = Array.from(one, (_, index) => index).filter((index) => one[index] !== other[index])
  const [first = 0, second] = at
  if (at.length === 1) return true
  return at.length === 2 && second === first + 1 && one[first] === other[second] && one[second] === other[first]
}

/** The Luhn digit that follows these digits. */
function checkDigit(digits: string): string {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at])
    const doubled = at % 2 === 0 ? 2 * digit : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return String((10 - (sum % 10)) % 10)
}

/** A cell without what spreadsheets and people put around an id. */
function bareId(cell: string): string {
  const text = cell
    .trim()
    .replace(/^="?([^"]*)"?$/, '$1')
    .replace(/^['’`´]+/, '')
    .trim()
  const whole = text.replace(/^(\d+)[.,]0+$/, '$1')
  const digits = whole.replaceAll(/[\s\u00a0\u202f./-]/g, '')
  return isDigits(digits) && digits.length >= IMEI_DIGITS - 1 ? digits : whole
}

const IMEI_DIGITS = 15
/** Six zeros at the end: one IMEI in a million has them, and every one that was rounded to nine digits. */
const ROUNDED = /0{6}$/
