import { describe, expect, it } from 'vitest'
import { CODES } from '../../src/diagnose/codes.ts'
import { diagnose as diagnoseFacts } from '../../src/diagnose/diagnose.ts'
import type { DeviceGroup } from '../../src/diagnose/device-facts.ts'
import type { Facts } from '../../src/diagnose/facts.ts'
import type { Observation, ObservationCode } from '../../src/observe/observations.ts'
import { paragraphs } from '../../src/page/build/paragraphs.mjs'
import { inEnglish } from '../support/texts.ts'

const observed = (code: ObservationCode, changes: Partial<Observation> = {}): Observation => ({
  code,
  subject: {},
  sinceAt: 1000,
  lastAt: 2000,
  count: 1,
  evidence: [],
  ...changes,
})

const NOW = 1_000_000

/** Returns the findings of these facts in an otherwise healthy system. */
function diagnose(facts: Partial<Facts>) {
  return inEnglish(diagnoseFacts({ now: NOW, observations: [], ...facts }))
}

function behind(id: string, sinceAt: number): DeviceGroup {
  const named = [{ id, name: id, sinceAt, evidence: '1 h behind' }]
  return { code: 'clock_behind', subject: { company_id: id }, count: 1, sinceAt, named }
}

it('the diagnosis finds nothing if nothing is observed', () => {
  expect(diagnose({ observations: [] })).toEqual([])
})

it('the diagnosis makes one finding of what several processes observe about one device', () => {
  const subject = { device: '1' }
  const [finding, ...others] = diagnose({
    observations: [
      observed('clock_ahead', { subject, sinceAt: 5000, count: 2, evidence: ['a'] }),
      observed('clock_ahead', { subject, sinceAt: 4000, count: 3, evidence: ['a', 'b'] }),
    ],
  })
  expect(others).toEqual([])
  expect(finding).toMatchObject({ code: 'clock_ahead', severity: 'warning', link: 'placed', subject, sinceAt: 4000 })
  expect(finding).toMatchObject({ count: 5, evidence: ['a', 'b'] })
  expect(finding.message).toBe('the fixes of 1 are ahead of our clock: they are not delivered')
})

it('the diagnosis makes one finding of two files that are older copies', () => {
  const stale = ['a.csv', 'b.csv'].map((name, index) => ({ name, at: 5000 - index }))
  expect(diagnose({ roster: { rejected: [], stale, missing: [] } })).toMatchObject([
    { code: 'roster_stale', count: 2, sinceAt: 4999, evidence: ['a.csv', 'b.csv'] },
  ])
})

it.each(['wrong_secret', 'not_permitted', 'checksum_errors'] as const)(
  'the diagnosis does not call a device silent that sends: %s',
  (code) => {
    const named = ['1', '2'].map((id) => ({ id, name: `Van ${id}`, sinceAt: 1, evidence: '' }))
    const devices = [{ code: 'silent', subject: {}, count: 2, sinceAt: 1, named } as const]
    const found = diagnose({ devices, observations: [observed(code, { subject: { device: '1' }, count: 3 })] })
    expect(found.map((each) => `${each.code} ${each.subject.device}`).toSorted()).toEqual(
      [`${code} 1`, 'silent 2'].toSorted(),
    )
  },
)

const found = (disk: string[]) =>
  diagnose({ redis: { disk, isUnrewritten: true } }).map(({ code, message }) => `${code}: ${message}`)

it('the diagnosis says that Redis cannot rewrite its file, and calls the disk full only if it is, or nearly', () => {
  expect(found([])).toEqual(['disk_full: Redis cannot rewrite its append-only file: it grows until the disk is full'])
  expect(found(['/data: 12 MiB are left'])).toEqual([
    'disk_full: the disk of Redis is full, or nearly: soon nothing can be acknowledged',
  ])
})

it('the diagnosis counts a route once if positions of two couriers on it are missing', () => {
  const window = { missing: 1, checked: 9, repaired: 0, firstAt: 1, lastAt: 2, at: 3 }
  const missing = ['7/42/1001', '7/43/1001'].map((lane) => ({ ...window, lane }))
  expect(diagnose({ missing })[0].message).toBe(
    'the tracking API does not have 2 positions of company 7 that it took, on 1 route',
  )
})

it('the diagnosis blames no device clock that seems wrong since the clock of a gateway is in doubt', () => {
  const findings = diagnose({
    observations: [
      observed('own_clock', { sinceAt: NOW - 60_000 }),
      observed('clock_ahead', { subject: { device: '1' }, sinceAt: NOW - 50_000 }),
      observed('clock_ahead', { subject: { device: '2' }, sinceAt: NOW - 90_000 }),
    ],
    devices: [behind('3', NOW - 40_000), behind('4', NOW - 80_000)],
  })
  expect(findings.map(({ code, subject }) => `${code} ${subject.device}`).toSorted()).toEqual([
    'clock_ahead 2',
    'clock_behind 4',
    'own_clock undefined',
  ])
})

it('the diagnosis lists errors before warnings, and older findings before newer ones', () => {
  const findings = diagnose({
    observations: [
      observed('flood', { sinceAt: 1 }),
      observed('redis_full', { sinceAt: 9 }),
      observed('own_clock', { sinceAt: 8 }),
    ],
  })
  expect(findings.map(({ code }) => code)).toEqual(['own_clock', 'redis_full', 'flood'])
})

describe('src/diagnose/README.md', () => {
  const texts = paragraphs() as Readonly<Record<string, string>>

  it.each(Object.entries(CODES))(
    'src/diagnose/README.md has a paragraph for %s, with its severity and link',
    (code, { severity, link }) => {
      const [, said, of] = /\*(\w+)\*, link \*(\w+)\*\.$/.exec(texts[code]) ?? []
      expect([said?.toLowerCase(), of]).toEqual([severity, link])
    },
  )

  it('src/diagnose/README.md has no other paragraph', () => {
    expect(Object.keys(texts).toSorted()).toEqual(Object.keys(CODES).toSorted())
  })
})
