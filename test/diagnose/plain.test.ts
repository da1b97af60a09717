import { describe, expect, it } from 'vitest'
import { CODES, type FindingCode, NOT_TAKEN } from '../../src/diagnose/codes.ts'
import { diagnose } from '../../src/diagnose/diagnose.ts'
import type { Facts, UpstreamFacts } from '../../src/diagnose/facts.ts'
import { plainly } from '../../src/diagnose/plain.ts'
import { inLanguage } from '../../src/texts/language.ts'
import { say, type Text } from '../../src/texts/text.ts'

const NOW = Date.parse('2026-11-22T08:20:00Z')
const UP: UpstreamFacts = {
  state: 'up',
  since: NOW,
  url: 'https://api.example',
  inFlight: 0,
  oldestMs: 0,
  slowestMs: 0,
  refused: [],
  tokensRefused: [],
}
const DOWN: UpstreamFacts = { ...UP, state: 'down', since: NOW - 60_000 }

function wordsOf(text: Text, language: 'en' | 'de' = 'en') {
  return inLanguage(plainly(text), language)
}

function findingsOf(facts: Partial<Facts>): string[] {
  return diagnose({ now: NOW, observations: [], ...facts }).flatMap(({ message, action }) => [
    wordsOf(message),
    wordsOf(action),
  ])
}

/** Words that an operator knows, but a dispatcher does not. */
const JARGON =
  /\b(lanes?|fix(es)?|put|parked|push\w*|custody|apikey|oauth|upstream|redis|workers?|gateway|checksum|frames?|listener|API)\b|\.(yaml|csv)/i

/** Findings that a dispatcher sees. */
const MET: readonly FindingCode[] = [
  ...(['silent', 'gps_old', 'clock_ahead', 'clock_behind', 'no_route', 'two_on_route', 'unknown_device'] as const),
  ...(['wrong_secret', 'not_permitted', 'checksum_errors', 'not_understood', 'sos', 'power_cut'] as const),
  ...(['battery_low', 'jammed', 'apikey_refused', 'lane_refused', 'positions_refused', 'token_refused'] as const),
  ...(['upstream_down', 'not_the_api', 'upstream_hanging', 'upstream_slow', 'upstream_limited', 'backlog'] as const),
  ...(['redis_down', 'redis_full', 'disk_full', 'no_gateway', 'no_worker', 'roster_rejected'] as const),
  ...(['roster_pull_failed', 'roster_stale'] as const),
  ...(['redis_down', 'redis_full', 'disk_full', 'no_gateway', 'no_worker', 'roster_rejected', 'roster_stale'] as const),
  ...(['config_refused', 'restart_needed', 'slow_script', 'event_loop_delay', 'lane_hanging', 'flood'] as const),
  ...(['guesses_refused', 'connections_full', 'one_address', 'open_files', 'port_taken', 'redis_unsafe'] as const),
  ...(['redis_unlimited', 'alert_failed', 'certificate_expires', 'certificate_refused', 'bridge_down'] as const),
  ...(['trial_unreachable'] as const),
]

describe.each(['en', 'de'] as const)('the words of a dispatcher in the language %s', (language) => {
  const codes = Object.entries({ ...CODES, not_taken: NOT_TAKEN })

  it.each(codes)(
    'the text of %s for a dispatcher is a whole sentence that names its subject',
    (_, { message, action }) => {
      const texts = [say(message, 'Van 12'), say(action)].map((text) => wordsOf(text, language))
      for (const text of texts) expect(text).toMatch(/^.{12,}$/)
      expect(texts.join()).not.toMatch(/undefined|null|\[object|(?<!settings: )\{/)
      const isAboutOne = message.includes('{}') && !/worker|process|log/.test(`${message} ${action}`)
      if (isAboutOne) expect(texts[0]).toContain('Van 12')
    },
  )

  it.each(MET)('the text of %s for a dispatcher has no technical word', (code) => {
    const { message, action } = CODES[code]
    const text = [say(message, 'Van 12'), say(action)].map((each) => wordsOf(each, language)).join(' ')
    expect(text).not.toMatch(language === 'en' ? JARGON : /spur|geparkt|apikey|redis|prüfsumme|\bAPI\b|\.yaml|\.csv/i)
  })
})

it('a plain text says whose password the tracking service refuses, without the parked lanes', () => {
  const lanes = [{ company: '8', status: 403, message: 'forbidden', since: NOW, lanes: ['8/1/2', '8/3/4'] }]
  expect(findingsOf({ lanes })).toEqual([
    'the tracking service refuses the password of company 8',
    'tell who runs this server to set the right password; what was refused is kept, and is then sent again',
  ])
  expect(findingsOf({ lanes: [{ ...lanes[0], status: 0, message: '' }] })[0]).toBe(
    'company 8 has no password for the tracking service',
  )
})

it('a plain text says how the tracking service fails, and how many positions wait', () => {
  const lastError = { at: NOW - 1000, code: 'http', status: 503, message: 'busy', operation: 'push' }
  expect(findingsOf({ upstream: { ...DOWN, lastError }, backlog: { fixes: 5, lanes: 1 } })[0]).toBe(
    'the tracking service answers with the error 503: 5 positions wait',
  )
  const refused = { at: NOW - 1000, code: 'refused', operation: 'push' }
  expect(findingsOf({ upstream: { ...DOWN, lastError: refused } })[0]).toBe('the tracking service refuses connections')
})

it('a plain text names a van before its problem, and counts several vans', () => {
  const named = { id: '1', name: 'Van 41', sinceAt: NOW - 600_000, evidence: 'x' }
  const group = { code: 'silent', subject: { company_id: '8' }, sinceAt: NOW } as const
  expect(findingsOf({ devices: [{ ...group, count: 1, named: [named] }] })[0]).toBe(
    'Van 41: nothing is heard, though on a route now',
  )
  expect(findingsOf({ devices: [{ ...group, count: 6, named: [named, named, named] }] })[0]).toBe(
    '6 vans: nothing is heard, though on a route now',
  )
})

it('a plain text names the van and the time zone to set, but no file', () => {
  const action = say(
    'set time_zone: "{}" for {}, or have the device report UTC',
    '+02:00',
    say('{} at {}', 'Van 4', 'devices.yaml:9'),
  )
  expect(wordsOf(action)).toBe('set the time zone +02:00 for Van 4 under Edit')
  expect(wordsOf(action, 'de')).toBe('für Van 4 unter Bearbeiten die Zeitzone +02:00 setzen')
})

it('a plain text keeps foreign texts, and texts without a plain form', () => {
  expect(plainly('lane {} of an API')).toBe('lane {} of an API')
  expect(wordsOf(say(CODES.port_taken.message, 'teltonika'))).toBe(
    'the default port of teltonika is taken: no tracker can connect to it',
  )
})
