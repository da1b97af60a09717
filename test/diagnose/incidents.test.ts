import { expect, it } from 'vitest'
import { type FindingCode, NOT_TAKEN } from '../../src/diagnose/codes.ts'
import { findingOf } from '../../src/diagnose/diagnose.ts'
import type { Finding } from '../../src/diagnose/facts.ts'
import { incidentsOf } from '../../src/diagnose/incidents.ts'
import { inLanguage } from '../../src/texts/language.ts'
import { english, say } from '../../src/texts/text.ts'

const NOW = Date.UTC(2026, 10, 22, 8)

function about(code: FindingCode, device: string, parts: Partial<Finding> = {}): Finding {
  const found = { code, subject: { device, company_id: '7' }, evidence: [`seen of ${device}`], count: 57, ...parts }
  return findingOf(found, NOW, `Van ${device}`)
}

function only(findings: readonly Finding[]) {
  const [[, { finding, size }], ...others] = incidentsOf(findings)
  expect(others).toEqual([])
  const { evidence, message, ...rest } = finding
  return { ...rest, size, message: english(message), evidence: evidence.map(english) }
}

it('an incident of one device is its finding, however often it was observed', () => {
  expect(only([about('clock_ahead', '1')])).toMatchObject({
    size: 1,
    subject: { device: '1', company_id: '7' },
    message: 'the fixes of Van 1 are ahead of our clock: they are not delivered',
  })
})

it('an incident of several devices says how many they are, and names five', () => {
  const findings = Array.from({ length: 12 }, (_, index) =>
    about('clock_ahead', String(index), { sinceAt: NOW - index, severity: index === 3 ? 'error' : 'warning' }),
  )
  expect(only(findings)).toMatchObject({
    size: 12,
    count: 12,
    severity: 'error',
    subject: { company_id: '7' },
    sinceAt: NOW - 11,
    message: 'the fixes of 12 devices are ahead of our clock: they are not delivered',
    evidence: [
      'Van 11: seen of 11',
      'Van 10: seen of 10',
      'Van 9: seen of 9',
      'Van 8: seen of 8',
      'Van 7: seen of 7 and 7 more',
    ],
  })
})

it('an incident of devices with different problems says the problem of each', () => {
  const untaken = { severity: 'warning', message: say(NOT_TAKEN.message, 'Van 3') } as const
  const { message } = only([about('wrong_port', '1'), about('wrong_port', '2'), about('wrong_port', '3', untaken)])
  expect(message).toBe(
    'each of 2 devices sends to the port of another protocol; its fixes are taken all the same; ' +
      'Van 3, on a route now, sends to a port that does not understand it: nothing of it is taken',
  )
})

it.each<[FindingCode, string, string]>([
  [
    'wrong_secret',
    'each of 2 devices presents a wrong secret, or none, and is treated like a device that is not configured',
    'jedes von 2 Geräten zeigt ein falsches oder kein Geheimnis und gilt als nicht eingerichtet',
  ],
  [
    'not_understood',
    'each of 2 devices sends positions that are not understood: the frames are kept as they came',
    'jedes von 2 Geräten sendet Positionen, die nicht verstanden werden: die Datenpakete bleiben, wie sie kamen, aufbewahrt',
  ],
  ['silent', 'nothing is heard of 2 devices, on a route now', 'von 2 Geräten ist nichts zu hören, jetzt auf Tour'],
])('an incident of several devices has a verb that fits: %s', (code, en, de) => {
  const [{ finding }] = incidentsOf([about(code, '1'), about(code, '2')]).values()
  expect(['en', 'de'].map((language) => inLanguage(finding.message, language as 'en' | 'de'))).toEqual([en, de])
})

it.each([
  ['lane_hanging', 'the tracking API does not answer a few lanes, and answers others'],
  ['positions_refused', 'the tracking API refuses positions: they are parked'],
] as const)('an incident of several lanes names none of them in its sentence: %s', (code, expected) => {
  const text = say('the tracking API does not answer courier {} on route {}, and answers others', '42', '1001')
  const lanes = ['1001', '1002'].map((route_id) => {
    const subject = { company_id: '7', courier_id: '42', route_id }
    return findingOf({ code, subject, message: text }, NOW)
  })
  expect(only(lanes)).toMatchObject({ message: expected, size: 2 })
})

it('many vans are the same incident as a few of them, and those of another company another one', () => {
  const group = findingOf({ code: 'silent', subject: { company_id: '7' }, count: 203 }, NOW, say('{} devices', 203))
  const keys = [[group], [about('silent', '1')], [about('silent', '1'), about('silent', '2')]].map((findings) => [
    ...incidentsOf(findings).keys(),
  ])
  expect(new Set(keys.flat()).size).toBe(1)
  expect(only([group, about('silent', '1')])).toMatchObject({ size: 203 })
  expect(incidentsOf([group, about('silent', '1', { subject: { device: '1', company_id: '8' } })]).size).toBe(2)
})

it('an incident does not grow when a finding is only observed more often', () => {
  expect(only([findingOf({ code: 'flood', count: 4711 }, NOW)])).toMatchObject({ size: 1, count: 4711 })
  expect(only([findingOf({ code: 'backlog', count: 4711 }, NOW)])).toMatchObject({ size: 4711 })
})

it('each SOS is an incident of its own', () => {
  const raised = ['1', '2'].map((device) => about('sos', device))
  expect(incidentsOf([...raised, about('sos', '1', { sinceAt: NOW - 1 })]).size).toBe(3)
})
