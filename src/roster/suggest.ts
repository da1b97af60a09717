import { nearest } from '../config/problem.ts'
import type { Roster } from './roster.ts'

/** How many unknown texts are compared with all names: one of them costs a millisecond for each hundred names. */
const MOST_ASKED = 20
const MOST_NAMES = 5000

/** Suggests the devices that unknown texts may mean, for the first of them; a fleet of more than 5,000 devices gets no suggestions. */
export function suggestionsIn(roster: Pick<Roster, 'names'>): (text: string) => string | undefined {
  let asked = 0
  let names: readonly string[] | undefined
  return (text) => {
    if (++asked > MOST_ASKED) return undefined
    names ??= roster.names()
    if (names.length > MOST_NAMES) return undefined
    const bare = bareText(text)
    const same = names.find((name) => bareText(name) === bare)
    if (same !== undefined) return same
    // Van 13 is no mistyped Van 12: what differs in its digits differs in a letter at most.
    const digits = digitsOf(text)
    return (
      nearest(
        text,
        names.filter((name) => digits !== '' && digitsOf(name) === digits),
      ) ?? nearest(text, names, 1)
    )
  }
}

/** Letters and digits alone: `van-12` and `Van 12` are the same. */
function bareText(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
}

function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, '')
}
