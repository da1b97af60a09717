/**
 * Which number of `05/11/2026` is the day. `both`: the dates of the file contradict each other; undefined: no date
 * decides it.
 */
export type DateOrder = 'day first' | 'month first' | 'both' | undefined

/** Finds out which number is the day, from dates in which one of the numbers is above 12. */
export function dateOrderOf(texts: Iterable<string>): DateOrder {
  let order: DateOrder
  for (const text of texts) {
    const [, first, , second] = NUMERIC.exec(text) ?? []
    if (first === undefined || Number(first) > 12 === Number(second) > 12) continue
    const told = Number(first) > 12 ? 'day first' : 'month first'
    order = order === undefined || order === told ? told : 'both'
  }
  return order
}

/** A date such as `22.11.2026` or `22/11/2026 6:00` as `2026-11-22 06:00`; any other text unchanged; why it is in doubt. */
export function standardDate(text: string, order: DateOrder): string | { readonly message: string } {
  const match = NUMERIC.exec(text)
  if (!match) return text
  const [, first, , second, year, hour, minute, rest = ''] = match
  const time = hour === undefined ? '' : ` ${hour.padStart(2, '0')}:${minute}${rest}`
  const date = (month: string, day: string) => `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  if (order === 'both')
    return { message: `"${text}": some dates have the day first, some the month: write ${date('11', '22')}` }
  if (order === 'day first') return date(second, first) + time
  if (order === 'month first') return date(first, second) + time
  if (first === second) return date(first, second) + time
  return { message: `is "${text}" ${date(second, first)} or ${date(first, second)}? Write it like one of these` }
}

const NUMERIC = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:,?[T ]+(\d{1,2}):(\d\d)(:\d\d)?)?$/
