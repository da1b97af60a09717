import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { timesIn } from '../../src/config/times.ts'
import { int64Mistake } from '../../src/config/units.ts'
import { paragraphs } from '../../src/page/build/paragraphs.mjs'
import { PARAGRAPHS } from '../../src/page/words/de-findings.ts'
import { ROSTER } from '../../src/page/words/de-roster.ts'
import { PhraseBook } from '../../src/page/words/phrases.ts'
import { STALE, unroutedText } from '../../src/process/roles/config-report.ts'
import { endedLines, missingDeviceIn, overlaps } from '../../src/roster/advice.ts'
import { literalsOf } from '../support/literals.ts'

const german = new PhraseBook(ROSTER)

/** What is in front of the columns and what they are called. */
function messagesIn(file: string): string {
  return readFileSync(file, 'utf8').split('export const ROUTE_COLUMNS')[0]
}

const ROWS = [17, 18].map((line) => ({
  at: line,
  line,
  from: 100,
  until: 200,
  device: 'Van 12',
  courier_id: '42',
  route_id: '7',
}))
const LINES = ROWS.map((row) => ({ ...row, source: `line ${row.line}` }))

it.each([
  missingDeviceIn([].values())('Van 99'),
  missingDeviceIn([{ id: 'Van 9' }].values())('Van 99'),
  ...['x', '9'.repeat(20), '3.5E+14'].map(int64Mistake),
  ...[ROWS.slice(1), ROWS].map((rows) => endedLines(rows, 300)!.message),
  ...overlaps(LINES).map(({ message }) => message),
  ...overlaps([LINES[0], { ...LINES[1], from: 150 }]).map(({ message }) => message),
  unroutedText(['Van 3', 'Van 4']),
  `routes.csv ${STALE}`,
  timesIn('Europe/Berlin').doubt('2026-10-25 02:30')!,
  timesIn('Europe/Berlin').doubt('2026-03-29 02:30')!,
  ...['routes', 'csv', 'xlsx'].flatMap((file) => literalsOf(messagesIn(`src/config/${file}.ts`))),
])('the remark on a line of a roster is German: %s', (message) => {
  expect(german.phrase(message)).toBeDefined()
})

it.each([
  [
    'device: no device has the id or the name "Van 99": did you mean Van 9?',
    'device: kein Gerät hat die Kennung oder den Namen „Van 99“: ist Van 9 gemeint?',
  ],
  [
    'from: overlaps line 3 for device 356307042441013: the later from wins',
    'from: überschneidet Zeile 3 für Gerät 356307042441013: das spätere from gilt',
  ],
  [
    'until: this line and 4 more ended before today: only fixes of that time that arrive late follow it',
    'until: diese Zeile und 4 weitere endeten vor heute: ihnen folgen nur Positionen jener Zeit, die verspätet ankommen',
  ],
  [
    'routes.csv:17: Van 12: route_id: expected an id: a whole number from 0 to 9223372036854775807',
    'routes.csv:17: Van 12: route_id: erwartet wird eine Kennung: eine ganze Zahl von 0 bis 9223372036854775807',
  ],
  [
    'Van 20 gets route 1002 (courier 42) from 2026-11-20 12:00 to 20:00; Van 12 loses it then (Europe/Berlin).',
    'Van 20 bekommt Tour 1002 (Fahrer 42) von 2026-11-20 12:00 bis 20:00; Van 12 verliert sie dann (Europe/Berlin).',
  ],
  ['<script>, {1} and $& are what they are', '<script>, {1} and $& are what they are'],
])('puts a text of several phrases into German: %s', (text, translated) => {
  expect(german.translate(text)).toBe(translated)
})

it('takes a text of 100,000 signs that may stand between phrases in a moment of work', () => {
  const text = 'a, '.repeat(33_333)
  expect(german.translate(text)).toBe(text)
})

it('the paragraph of each finding is there in German, with the same figures and names', () => {
  const english = paragraphs() as Readonly<Record<string, string>>
  expect(Object.keys(PARAGRAPHS).toSorted()).toEqual(Object.keys(english).toSorted())
  const lost = Object.entries(english).flatMap(([code, text]) => {
    const missing = factsIn(text).difference(factsIn(PARAGRAPHS[code]))
    return [...missing].map((fact) => `${code}: ${fact}`)
  })
  expect(lost).toEqual([])
})

/** The names in it, and its numbers. */
function factsIn(text: string): Set<string> {
  return new Set(text.match(/`[^`]+`|\d+/g))
}
