import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { timesIn } from '../../src/config/times.ts'
import { int64Mistake } from '../../src/config/units.ts'
import { CODES, type FindingCode, type Meaning } from '../../src/diagnose/codes.ts'
import { HELD_LISTS } from '../../src/lanes/index.ts'
import { paragraphs } from '../../src/page/build/paragraphs.mjs'
import { API_TEST } from '../../src/page/words/de-api-test.ts'
import { DIAGNOSIS } from '../../src/page/words/de-diagnosis.ts'
import { PARAGRAPHS } from '../../src/page/words/de-findings.ts'
import { ROSTER } from '../../src/page/words/de-roster.ts'
import { PhraseBook } from '../../src/page/words/phrases.ts'
import { STALE, unroutedText } from '../../src/process/roles/config-report.ts'
import { endedLines, missingDeviceIn, overlaps } from '../../src/roster/advice.ts'
import { literalsOf } from '../support/literals.ts'

const german = new PhraseBook([...DIAGNOSIS, ...ROSTER])
const codes = Object.entries(CODES) as [FindingCode, Meaning][]

it.each(codes)('the message and the action of %s are German, and name what it is about', (_, { action, message }) => {
  const text = german.phrase(message('Van 12'))
  expect(text).toBeDefined()
  expect(text?.includes('Van 12')).toBe(message('Van 12').includes('Van 12'))
  expect(german.phrase(action)).toBeDefined()
})

/** Of the gaps of a day the page has words of its own. */
const ELSEWHERE = ['history.ts', 'codes.ts']
const FILES = globSync('src/diagnose/*.ts').filter((file) => !ELSEWHERE.some((name) => file.endsWith(name)))

it.each(FILES)('each text of %s has a German one', (file) => {
  const texts = literalsOf(readFileSync(file, 'utf8')).filter((text) => !text.startsWith('.'))
  expect(texts.filter((text) => !isGerman(text))).toEqual([])
})

it.each([
  [
    'the tracking API refuses 2 lanes of company 7 (404, 422)',
    'die Tracking-API lehnt 2 Spuren der Firma 7 ab (404, 422)',
  ],
  [
    'never heard, refused since 14:33:09+01:00: it presents a wrong secret, or none: set the same secret in the device and in its entry',
    'nie gehört, abgewiesen seit 14:33:09+01:00: es zeigt ein falsches oder kein Geheimnis: im Gerät und in seinem Eintrag dasselbe setzen',
  ],
  ['granit: it is a text', 'granit: es enthält keine Position (text)'],
])('a text of several phrases, or with a list of numbers, is German as a whole: %s', (text, translation) => {
  expect(german.translate(text)).toBe(translation)
})

it.each([
  ['datagrams from 192.0.2.1:5000', 'Datagramme von 192.0.2.1:5000'],
  ['connections from 192.0.2.0/24', 'Verbindungen von 192.0.2.0/24'],
  ['requests from 192.0.2.0/24', 'Anfragen von 192.0.2.0/24'],
  ...HELD_LISTS.map(({ reason }) => [`held as ${reason}`, expect.not.stringContaining(reason)]),
])('the evidence of a gateway is German: %s', (text, translation) => {
  expect(german.phrase(text)).toEqual(translation)
})

const apiTest = new PhraseBook(API_TEST)

it.each(globSync('src/tracking/api-test/*.ts'))('each text of %s, which the page shows, has a German one', (file) => {
  const code = readFileSync(file, 'utf8').replaceAll(/^(?:import|export) .* from .*$/gm, '')
  const texts = literalsOf(code).filter((text) => text.includes(' '))
  expect(texts.filter((text) => !isGerman(text, apiTest))).toEqual([])
})

it.each([
  ['apikey 1 of 2 is refused: 403 no key', 'apikey 1 von 2 wird abgelehnt: 403 no key'],
  [
    'what answers is not the tracking API: 302 text/html, redirects to: http://x/, begins with: <p style="a: b; c">',
    'was antwortet, ist nicht die Tracking-API: 302 text/html, leitet weiter zu: http://x/, beginnt mit: <p style="a: b; c">',
  ],
  ['127.0.0.1 port 1 refuses connections', '127.0.0.1 Port 1 weist Verbindungen ab'],
])('what a test of the API has seen is German: %s', (text, translation) => {
  expect(apiTest.translate(text)).toBe(translation)
})

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

it('each evidence that a process observes has a German one', () => {
  const files = globSync('src/{config,ingest,lanes,listen,process,push}/**/*.ts')
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').match(/evidence(:| =) .*`.*/g) ?? [])
  expect(lines.length).toBeGreaterThan(15)
  expect(lines.flatMap(literalsOf).filter((text) => !isGerman(text))).toEqual([])
})

it.each([
  [
    'Van 12 is silent, last 2 km NE of Kaunas (54.91230, 23.93460), 12 min ago, on route 1007 (courier 42); silent since 08:14, last fix 08:13, route 1007 by routes.csv:17, all delivered, last push 08:14: check its power and its SIM card',
    'Van 12 ist stumm, zuletzt 2 km nordöstlich von Kaunas (54.91230, 23.93460), vor 12 min, auf Tour 1007 (Fahrer 42); stumm seit 08:14, letzte Position 08:13, Tour 1007 durch routes.csv:17, alles zugestellt, letzte Sendung 08:14: Strom und SIM-Karte prüfen',
  ],
  [
    'last fix 08:14, no route now, 3 fixes held since 07:00, ahead of the clock: set time_zone: "+03:00" in devices.yaml; earlier ones were refused 404 by the service (no such route), 214 parked on route 7 and 3 on other routes: correct the line',
    'letzte Position 08:14, jetzt ohne Tour, 3 Positionen gehalten seit 07:00, der Uhr voraus: time_zone: "+03:00" setzen in devices.yaml; frühere von der Tracking-API mit 404 abgelehnt (no such route), 214 geparkt auf Tour 7 und 3 auf anderen Touren: die Zeile berichtigen',
  ],
  [
    'filtered as invalid at 08:00: the device has no satellite fix, check its antenna and where it is',
    'gefiltert (invalid) um 08:00: das Gerät hat keinen Satellitenempfang, Antenne und Ort prüfen',
  ],
  [
    'The tracking API refuses connections: 5 positions wait',
    'die Tracking-API weist Verbindungen ab: 5 Positionen warten',
  ],
  [
    'push: refuses connections, last at 2026-11-22T08:00:00Z',
    'push: weist Verbindungen ab, zuletzt um 2026-11-22T08:00:00Z',
  ],
  [
    'Well, with 2 warnings: the certificate of mqtt ends soon; 1 more finding',
    'in Ordnung, mit 2 Warnungen: das Zertifikat von mqtt läuft bald ab; 1 weiterer Befund',
  ],
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
  [
    'Van 12 sends, but what it sends is refused, last 2 km NE of Kaunas (54.91230, 23.93460), 12 min ago, on route 1007 (courier 42)',
    'Van 12 sendet, aber was es sendet, wird abgewiesen, zuletzt 2 km nordöstlich von Kaunas (54.91230, 23.93460), vor 12 min, auf Tour 1007 (Fahrer 42)',
  ],
  ['<script>, {1} and $& are what they are', '<script>, {1} and $& are what they are'],
])('puts a text of several phrases into German: %s', (text, translated) => {
  expect(german.translate(text)).toBe(translated)
})

it('takes a text of 100,000 signs that may stand between phrases in a moment of work', () => {
  const text = 'a, '.repeat(33_333)
  expect(german.translate(text)).toBe(text)
})

/** A text that joins others has something before it. */
function isGerman(text: string, book = german): boolean {
  let values = 0
  const said = text.replaceAll(/(\{\})+/g, () => `X${++values}`)
  const forms = [said, said.replace(/^[;:,]? |\.$/g, ''), `X0${said}`, `X0 ${said}`]
  return forms.some((form) => book.phrase(form) !== undefined)
}

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

it.each(codes)('the verdict on %s is German', (_, { message }) => {
  const own = message('Van 12')
  for (const text of [`Well, with 1 warning: ${own}`, `Well, with 2 warnings: ${own}; 1 more finding`])
    expect(german.translate(text)).toContain(german.phrase(own))
})
