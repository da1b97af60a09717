/** The most bytes that the id of a device has. */
export const MAX_ID_BYTES = 64

/** Returns whether a text consists of decimal digits only. */
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

/** Returns the common form of a device's ids: digits without leading zeros; any other text unchanged. */
export function sameId(id: string): string {
  return isDigits(id) ? withoutZeros(id) : id
}

/** The ids in the name of a lane: `7/42/1001`. */
export function laneIds(lane: string) {
  const [company_id, courier_id, route_id] = lane.split('/')
  return { company_id, courier_id, route_id }
}

/** The company in the name of a lane, or of a route: `7/1001`. */
export function companyOfLane(lane: string): string {
  return lane.slice(0, lane.indexOf('/'))
}

/** How an id is often mistyped. */
type Slip = 'swapped' | 'wrong' | 'missing'

/**
 * Returns the slip that turns the id of a tracker into a typed one, or undefined. Trackers of one box differ in two digits, the last one of
 * the serial number and the check digit, so other or swapped digits count only if the typed IMEI has a wrong check digit.
 */
export function slipBetween(typed: string, id: string): Slip | undefined {
  if (!isDigits(typed) || !isDigits(id) || id.length < LEAST_DIGITS) return undefined
  const at = firstDifference(typed, id)
  if (typed.length === id.length - 1) return typed.slice(at) === id.slice(at + 1) ? 'missing' : undefined
  if (typed.length !== id.length || at === id.length) return undefined
  if (typed.slice(at + 1) === id.slice(at + 1)) return isImei(id) && !isImei(typed) ? 'wrong' : undefined
  const isSwap = typed[at] === id[at + 1] && typed[at + 1] === id[at] && typed.slice(at + 2) === id.slice(at + 2)
  return isSwap && isImei(id) === (id.length === IMEI_DIGITS) && !isImei(typed) ? 'swapped' : undefined
}

function firstDifference(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

/** Returns whether an id is an IMEI: 15 digits, the last one the check digit (Luhn). */
export function isImei(id: string | undefined): boolean {
  if (id?.length !== IMEI_DIGITS || !isDigits(id)) return false
  const sum = Array.from(id, Number).reduce((all, digit, at) => {
    const weighed = at % 2 === 1 ? digit * 2 : digit
    return all + (weighed > 9 ? weighed - 9 : weighed)
  }, 0)
  return sum % 10 === 0
}

const IMEI_DIGITS = 15
/** Short ids are numbered by hand, and so near one another. */
const LEAST_DIGITS = 10
