import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { chainOf } from '../../src/diagnose/chain.ts'
import { CODES, type FindingCode, type Meaning, NOT_TAKEN } from '../../src/diagnose/codes.ts'
import { diagnose } from '../../src/diagnose/diagnose.ts'
import { verdict } from '../../src/diagnose/order.ts'
import { clockIn } from '../../src/domain/times.ts'
import { paragraphs } from '../../src/page/build/paragraphs.mjs'
import { PARAGRAPHS } from '../../src/page/words/de-findings.ts'
import { GERMAN } from '../../src/texts/german/index.ts'
import { inLanguage, toJson } from '../../src/texts/language.ts'
import { say } from '../../src/texts/text.ts'
import { literalsOf } from '../support/literals.ts'

const SOURCES = globSync('src/**/*.ts').filter((file) => !/^src\/(?:page|texts\/german)\//.test(file))
const templates = Object.entries(GERMAN)

it('each German text has all values of its English text, and no others', () => {
  const differing = templates.filter(([english, german]) => {
    const values = english.split('{}').flatMap((_, index) => (index === 0 ? [] : `{${index}}`))
    const used = new Set(german.match(/\{\d*\}/g))
    return used.size !== values.length || values.some((value) => !used.has(value))
  })
  expect(differing).toEqual([])
})

it('no German text is left untranslated', () => {
  expect(templates.filter(([english, german]) => /[a-z]{3}.* .*[a-z]{3}/.test(english) && english === german)).toEqual(
    [],
  )
})

it('each German text has decimal commas, and keeps the points of other values', () => {
  expect(templates.map(([text]) => text).filter(hasPoint)).toEqual([])
})

/** Returns true if the German text, or a neighbouring text, is wrong with decimal numbers as values. */
function hasPoint(template: string): boolean {
  const values = template.split('{}').slice(1)
  const numbers = values.map((_, index) => 1234.5 + index)
  const german = inLanguage(say('{}, {}', { says: template, values: numbers }, 'v1.2'), 'de')
  return !german.endsWith('v1.2') || numbers.some((number) => !german.includes(`${Math.floor(number)},5`))
}

it('only coordinates are formatted as strings, because other numbers would have a decimal point in German', () => {
  const files = SOURCES.filter((file) => !/^src\/(?:sandbox|cli)\//.test(file))
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').match(/^.*to(?:Fixed|Precision)\(.*$/gm) ?? [])
  const others = lines.filter((line) => !/latitude.*longitude|Number\(.*toPrecision/.test(line))
  expect(others).toEqual([])
})

/** Texts with a part that depends on their value. */
const CHOSEN = [
  /^held as \w+$/,
  /^the tracking API is \w+ since \{\}$/,
  /^\{\} km [NESW]+ of \{\}$/,
  /^\{\} gets \{\}; \{\} \w+ \w+ then \(\{\}\)\.$/,
  /^this \w+ in the past: positions of that time that were delivered stay where they are$/,
]

it('each text of the catalogue is used in the code', () => {
  const code = SOURCES.map((file) => readFileSync(file, 'utf8')).join('\n')
  const isSaid = (text: string) => code.includes(`'${text}'`) || code.includes(`: ${text}\n`)
  const unsaid = templates.filter(([text]) => !isSaid(text) && !CHOSEN.some((pattern) => pattern.test(text)))
  expect(unsaid.map(([text]) => text)).toEqual([])
})

/** Files with only texts of the catalogue; the gaps of a day in history.ts have texts of the page. */
const RULES = globSync([
  'src/diagnose/*.ts',
  'src/tracking/api-test/*.ts',
  'src/config/{csv,routes,xlsx}.ts',
  'src/admin/device/assignment.ts',
]).filter((file) => !file.endsWith('history.ts'))

it.each(RULES)('%s uses only texts of the catalogue', (file) => {
  const [beginning] = readFileSync(file, 'utf8').split('export const ROUTE_COLUMNS')
  const code = beginning.replaceAll(/^(?:import|export) .* from .*$/gm, '')
  const texts = literalsOf(code).filter((text) => !text.startsWith('.'))
  expect(texts.filter((text) => !isOfCatalogue(text))).toEqual([])
})

it('each evidence of an observation is a text of the catalogue', () => {
  const files = globSync('src/{config,gateway,process,push,store}/**/*.ts')
  const lines = files.flatMap(
    (file) => readFileSync(file, 'utf8').match(/evidence(:| =)(?:[^;\n]*\n){0,5}?[^;\n]*?(?:`.*`|say\(.*)/g) ?? [],
  )
  expect(lines.length).toBeGreaterThan(25)
  expect(lines.flatMap(literalsOf).filter((text) => !isOfCatalogue(text))).toEqual([])
})

/** Texts that are equal in both languages. */
const UNITS = new Set(['{} km/h', '{} min', '{} h {} min', '{}: {} ms', '{} %', '{} kB', '{} MB'])

/** Returns true for a text of the catalogue, also with a part that depends on its value. */
function isOfCatalogue(text: string): boolean {
  const pattern = new RegExp(`^${text.split('{}').map(RegExp.escape).join('.+')}$`)
  return UNITS.has(text) || Object.keys(GERMAN).some((template) => pattern.test(template))
}

describe.each(['en', 'de'] as const)('in the language %s', (language) => {
  const codes = Object.entries({ ...CODES, not_taken: NOT_TAKEN }) as [FindingCode, Meaning][]

  it.each(codes)('%s has a message that names its subject, and an action', (_, { message, action }) => {
    const texts = [say(message, 'Van 12'), say(action)].map((text) => inLanguage(text, language))
    expect(texts[0].includes('Van 12')).toBe(message.includes('{}'))
    expect(texts.join()).not.toMatch(/undefined|null|\[object|(?<!settings: )\{/)
  })
})

const NOW = Date.parse('2026-11-22T08:20:00Z')
const german = (value: unknown) => JSON.parse(toJson(value, 'de')) as unknown

it('findings are German as a whole, and keep foreign texts unchanged', () => {
  const upstream = {
    state: 'down',
    since: NOW - 60_000,
    url: 'https://api.example',
    inFlight: 2,
    oldestMs: 0,
    slowestMs: 0,
    refused: [],
    tokensRefused: [],
    lastError: { at: NOW - 1000, code: 'http', status: 503, message: 'the {1} and $& are down', operation: 'push' },
  } as const
  const silent = {
    id: '1',
    name: 'Van 1',
    sinceAt: NOW - 600_000,
    evidence: say('last heard {} ago', say('{} days', 3)),
  }
  const findings = diagnose({
    now: NOW,
    observations: [
      {
        code: 'certificate_expires',
        subject: { listener: 'mqtts' },
        sinceAt: NOW,
        lastAt: NOW,
        count: 1,
        evidence: [],
      },
    ],
    upstream,
    backlog: { fixes: 5, lanes: 1 },
    devices: [{ code: 'silent', subject: { company_id: '7' }, count: 1, sinceAt: NOW, named: [silent] }],
  })
  expect(german(findings)).toMatchObject([
    {
      code: 'upstream_down',
      message: 'die Tracking-API antwortet mit 503: 5 Positionen warten',
      evidence: [
        'push: 503 the {1} and $& are down, zuletzt um 2026-11-22T08:19:59.000Z',
        'https://api.example: 2 laufende Anfragen',
      ],
    },
    {
      code: 'silent',
      message: 'von Van 1 ist nichts zu hören, jetzt auf Tour',
      evidence: ['zuletzt gehört vor 3 Tagen'],
    },
    { code: 'certificate_expires', message: 'das Zertifikat von mqtts läuft bald ab oder ist abgelaufen' },
  ])
  expect(german(verdict(findings))).toBe('Die Tracking-API antwortet mit 503: 5 Positionen warten; 2 weitere Befunde.')
  expect(german(verdict(findings.slice(1)))).toBe(
    'In Ordnung, mit 2 Warnungen: von Van 1 ist nichts zu hören, jetzt auf Tour; 1 weiterer Befund.',
  )
  expect(german(verdict([]))).toBe('Alles in Ordnung.')
})

it('the sentence about a van is German as a whole', () => {
  const at = new Date(NOW - 12_000).toISOString()
  const lane = { courier_id: '42', route_id: '1007', source: 'routes.csv:17', waiting: 0, from_at: at }
  const device = {
    id: '12',
    name: 'Van 12',
    company: '7',
    heardAt: NOW - 12_000,
    route: { courier: '42', route: '1007' },
    fix: { newAt: NOW - 12_000, time: NOW - 12_000, speed: 12 },
  }
  const facts = {
    device,
    position: { at: NOW - 12_000, latitude: 54.9123, longitude: 23.9346, place: say('{} km NE of {}', 2, 'Kaunas') },
    explained: {
      device: {
        id: '12',
        configured: true,
        company_id: '7',
        held: [],
        events: [],
        lane,
        last_heard: { at, transport: 'tcp', remote: '192.0.2.1:5' },
        last_fix: { time_at: at, received_at: at },
      },
      parked: [
        {
          company_id: '7',
          courier_id: '42',
          route_id: '1007',
          fixes: 214,
          parked: { status: 404, message: 'no such route' },
          refused: [],
        },
      ],
      upstream: { state: 'up', since_at: at },
      now: NOW,
    },
    findings: [],
  } as const
  const { sentence, links } = german(chainOf(facts, clockIn('UTC', NOW))) as { sentence: string; links: object[] }
  expect(sentence).toBe(
    'Van 12 fährt 2 km nordöstlich von Kaunas (54.91230, 23.93460), vor 12 s, 43 km/h, auf Tour 1007 (Fahrer 42), ' +
      'aber die Tracking-API nimmt seine Positionen nicht; letzte Position 08:19:48Z, Tour 1007 durch routes.csv:17, ' +
      'von der Tracking-API mit 404 abgelehnt (no such route), 214 geparkt: die Zeile berichtigen',
  )
  expect(links[0]).toMatchObject({ evidence: ['gehört vor 12 s: eine Anmeldung über tcp von 192.0.2.1:5'] })
})

it('a text that is missing in the catalogue stays English with its values', () => {
  expect(inLanguage({ says: 'a {} of {}', values: [1, say('a login')] }, 'de')).toBe('a 1 of eine Anmeldung')
})

it('the paragraph of each finding exists in German, with the same figures and names', () => {
  const english = paragraphs() as Readonly<Record<string, string>>
  expect(Object.keys(PARAGRAPHS).toSorted()).toEqual(Object.keys(english).toSorted())
  const lost = Object.entries(english).flatMap(([code, text]) => {
    const missing = factsIn(text).difference(factsIn(PARAGRAPHS[code]))
    return [...missing].map((fact) => `${code}: ${fact}`)
  })
  expect(lost).toEqual([])
})

/** Returns the names and the numbers in a text. */
function factsIn(text: string): Set<string> {
  return new Set(text.match(/`[^`]+`|\d+/g))
}
