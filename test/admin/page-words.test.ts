import { describe, expect, it } from 'vitest'
import { de } from '../../src/page/words/de.ts'
import { en } from '../../src/page/words/en.ts'

type Words = { readonly [key: string]: Words } | string | ((...values: string[]) => string)

/** Words that an operator knows, but a dispatcher does not. */
const JARGON = {
  en: /\b(lanes?|fix(es)?|put|parked|push\w*|custody|apikey|upstream|redis|workers?|API|listener|frames?|gateway)\b|\.(yaml|csv)/i,
  de: /\b(spur\w*|geparkt\w*|apikey|redis|worker|API|listener|datenpaket\w*|gateway)\b|\.(yaml|csv)/i,
}
/** Texts for operators, the names of the seven links, and the condition of a parked van. */
const FOR_OPERATORS =
  /^(now\.(test|alertTest)\.|van\.(noCompany|frames|noFrames\w*|waitsForFrame|noFix)$|link\.|condition\.parked$|van\.gap\.parked$)/

/** Returns all texts with their keys, with `Van 12` for every value. */
function textsIn(words: Words, key = ''): (readonly [key: string, text: string])[] {
  if (typeof words === 'string') return [[key, words]]
  if (typeof words === 'function') return [[key, words('Van 12', 'Van 12', 'Van 12', 'Van 12')]]
  return Object.entries(words).flatMap(([name, inner]) => textsIn(inner, key ? `${key}.${name}` : name))
}

describe.each([
  ['en', en],
  ['de', de],
] as const)('the words of the page in the language %s', (language, words) => {
  it('the page uses only words that a dispatcher knows', () => {
    const texts = textsIn(words as unknown as Words).filter(([key]) => !FOR_OPERATORS.test(key))
    expect(texts.length).toBeGreaterThan(500)
    expect(texts.filter(([, text]) => JARGON[language].test(text))).toEqual([])
  })
})

it.each([
  ['en', en, '1 position came late', '2 positions came late', 'Name 1 device', 'of 2 devices'],
  ['de', de, '1 Position kam verspätet', '2 Positionen kamen verspätet', '1 Gerät benennen', 'von 2 Geräten'],
] as const)('the page counts one thing in the singular, in the language %s', (_, words, one, two, name, devices) => {
  expect([words.van.late(1, '1'), words.van.late(2, '2')]).toEqual([one, two])
  expect([words.arrivals.nameMany(1, '1'), words.arrivals.unreadDevices(2)]).toEqual([name, devices])
})
