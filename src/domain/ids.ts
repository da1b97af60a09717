/** The most bytes that the id of a device has. */
export const MAX_ID_BYTES = 64

/** Whether a text is decimal digits and nothing else. */
export function isDigits(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) < 0x30 || text.charCodeAt(at) > 0x39) return false
  return text !== ''
}

/** Decimal digits without leading zeros; `00` becomes `0`. */
export function withoutZeros(digits: string): string {
  let at = 0
  while (at < digits.length - 1 && digits.charCodeAt(at) === 0x30) at++
  return at === 0 ? digits : digits.slice(at)
}

/** What two ids of one device have in common: digits without leading zeros; any other text itself. */
export function sameId(id: string): string {
  return isDigits(id) ? withoutZeros(id) : id
}
