import { say, type Text } from '../texts/text.ts'
import { isDigits, isImei } from './ids.ts'
import { isScientific } from './units.ts'

/** What a spreadsheet cell tells about the id of a device. */
export interface IdReading {
  /** The id; absent if the cell has none that can be used unchanged. */
  readonly id?: string
  /** How the cell was changed: the id is certain. */
  readonly repaired?: Text
  /** Why the id may not be the one that was meant. */
  readonly doubt?: Text
  /** The first digits of a rounded IMEI, which are still right. */
  readonly prefix?: string
}

/**
 * Reads the id of a device from a cell. Drops an apostrophe, `="…"`, `.0`, and blanks and hyphens between digits. Adds the
 * check digit to 14 digits. An IMEI that was rounded, or has a wrong check digit, is in doubt.
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

/** The digit with which 14 digits are an IMEI. */
function checkDigit(digits: string): string {
  return Array.from('0123456789').find((digit) => isImei(digits + digit)) ?? ''
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
