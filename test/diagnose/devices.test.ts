import { expect, it } from 'vitest'
import type { FindingCode } from '../../src/diagnose/codes.ts'
import { conditionOf, type DeviceCondition, DeviceSurvey, durationText } from '../../src/diagnose/devices.ts'
import { diagnose, linkStates } from '../../src/diagnose/diagnose.ts'
import type { DeviceFacts, SaidFacts } from '../../src/diagnose/device-facts.ts'
import { verdict } from '../../src/diagnose/order.ts'
import { inEnglish } from '../support/texts.ts'

const NOW = Date.UTC(2026, 10, 20, 8)
const S = 1000
const MIN = 60 * S

const VAN: DeviceFacts = {
  id: '1',
  name: 'Van 12',
  company: '7',
  route: { courier: '42', route: '1001' },
  heardAt: NOW - 5 * S,
  connectedAt: NOW - 60 * MIN,
  usualMs: 10 * S,
  fix: { newAt: NOW - 5 * S, time: NOW - 6 * S, speed: 12 },
}
const SILENT = { heardAt: NOW - 5 * MIN - S, fix: { ...VAN.fix!, newAt: NOW - 5 * MIN - S } }
const NO_ROUTE = { route: undefined, isUnplaced: true, unplaced: { reason: 'no_route', at: NOW - S, isHeld: true } }
const LOST = {
  at: NOW - S,
  sinceAt: NOW - 8 * MIN,
  address: '10.9.9.9:1',
  port: 5023,
  protocol: 'gt06',
  speaks: { protocol: 'h02' },
}
const UNCONNECTED = { connectedAt: undefined }
const H = 60 * MIN
/** Reports the ignition with this value since `sinceAgoMs`, the time of its last fix. */
const ignition = (value: boolean, heardAgoMs: number, sinceAgoMs = heardAgoMs): Partial<DeviceFacts> => ({
  said: {
    ignition: { value, at: NOW - heardAgoMs, sinceAt: NOW - sinceAgoMs, otherAt: NOW - sinceAgoMs - 10 * MIN },
  },
  heardAt: NOW - heardAgoMs,
  fix: { newAt: NOW - sinceAgoMs, time: NOW - sinceAgoMs, speed: 0 },
})
/** Reports the ignition as off, and never reported it as on. */
const neverOn = (heardAgoMs: number): Partial<DeviceFacts> => ({
  ...ignition(false, heardAgoMs, 2 * H),
  said: { ignition: { value: false, at: NOW - heardAgoMs, sinceAt: NOW - 2 * H } },
  fix: { newAt: NOW - heardAgoMs, time: NOW - heardAgoMs, speed: 0 },
})
/** Reported the ignition as off this long before its last fix, and nothing since. */
const saidBefore = (heardAgoMs: number, agoMs: number): Partial<DeviceFacts> => ({
  ...ignition(false, heardAgoMs + agoMs),
  heardAt: NOW - heardAgoMs,
  fix: { newAt: NOW - heardAgoMs, time: NOW - heardAgoMs, speed: 0 },
})
/** Was parked for nine hours, was started this long ago, and is heard now. */
const started = (agoMs: number): Partial<DeviceFacts> => ({
  ...ignition(true, 0, agoMs),
  fix: { newAt: NOW - 9 * H, time: NOW - 9 * H, speed: 0 },
})
const BEHIND = { ms: 3 * H, sinceAt: NOW - 40 * S, zone: '-03:00' }

/** Has a slow clock; its last fix came this long ago. */
const behind = ({ agoMs, speed }: { agoMs: number; speed: number }): Partial<DeviceFacts> => ({
  behind: BEHIND,
  fix: { newAt: NOW - agoMs, time: NOW - agoMs - 3 * H, speed },
})
const saidBehind = (agoMs: number) => ({ ...saidBefore(H, agoMs), ...behind({ agoMs: H, speed: 0 }) })

it.each<[DeviceCondition, string, Partial<DeviceFacts>]>([
  ['moving', 'reports a speed', {}],
  ['standing', 'reports no speed', { fix: { newAt: NOW, time: NOW } }],
  ['standing', 'reports the noise of a receiver', { fix: { ...VAN.fix!, speed: 0.6 } }],
  ['moving', 'has old fixes that are late by the same', { fix: { ...VAN.fix!, newAt: NOW - 10 * MIN }, isLate: true }],
  ['never', 'was not heard', { heardAt: undefined, fix: undefined }],
  ['unknown', 'is not configured', { company: undefined, route: undefined }],
  ['silent', 'was not heard for five minutes', SILENT],
  ['moving', 'was heard five minutes ago', { heardAt: NOW - 5 * MIN, fix: { ...VAN.fix!, newAt: NOW - 5 * MIN } }],
  ['moving', 'usually sends every two minutes', { ...SILENT, usualMs: 2 * MIN }],
  ['silent', 'missed three of its hours', { ...SILENT, heardAt: NOW - 181 * MIN, usualMs: 60 * MIN }],
  ['silent', 'has no route either', { ...SILENT, route: undefined }],
  ['no_route', 'has no route', { route: undefined }],
  ['held', 'is ahead of the clock', { isUnplaced: true, unplaced: { reason: 'clock', at: NOW, isHeld: true } }],
  ['gps_old', 'had no new position for six minutes', { fix: { newAt: NOW - 6 * MIN, time: NOW - 6 * MIN } }],
  ['gps_old', 'had no position at all', { fix: undefined }],
  [
    'standing',
    'was heard for the first time a moment ago',
    { fix: undefined, ...UNCONNECTED, heardSince: NOW - 20 * S },
  ],
  [
    'gps_old',
    'sends without a position since six minutes',
    { fix: undefined, ...UNCONNECTED, heardSince: NOW - 6 * MIN },
  ],
  ['standing', 'has only just connected', { fix: undefined, connectedAt: NOW - 20 * S }],
  ['parked', 'has switched its ignition off a moment ago', ignition(false, 20 * S)],
  ['parked', 'sleeps, and was not heard for fewer than two of its intervals', { ...ignition(false, H), sleepMs: H }],
  ['parked', 'was not heard for exactly twice its interval', { ...ignition(false, 2 * H), sleepMs: H }],
  ['silent', 'was not heard for more than twice its interval', { ...ignition(false, 2 * H + 1), sleepMs: H }],
  ['parked', 'has never slept before, and was not heard for half a day', ignition(false, 12 * H)],
  ['silent', 'has never slept before, and was not heard for longer', ignition(false, 12 * H + 1)],
  ['parked', 'sleeps for minutes, and sends as seldom', { ...ignition(false, H), sleepMs: 6 * MIN, usualMs: 20 * MIN }],
  ['parked', 'sleeps without a route', { ...ignition(false, H), route: undefined }],
  ['parked', 'sends signs of life without a position', { ...ignition(false, 20 * S, 6 * H) }],
  ['silent', 'was not heard for five minutes with its ignition on', ignition(true, 5 * MIN + S)],
  [
    'silent',
    'was not heard with its ignition on, however long it slept before',
    { ...ignition(true, H), sleepMs: 9 * H },
  ],
  ['standing', 'stands with its ignition on', ignition(true, 20 * S)],
  ['silent', 'sends to a wrong port since', { ...ignition(false, H), sleepMs: H, sender: LOST }],
  ['moving', 'is towed', { ...ignition(false, 5 * S, H), fix: VAN.fix }],
  ['silent', 'was towed when it fell silent', { ...ignition(false, H, 2 * H), fix: { ...VAN.fix!, time: NOW - H } }],
  [
    'parked',
    'rolled to a stop when its ignition was switched off',
    { ...ignition(false, H), fix: { ...VAN.fix!, time: NOW - H } },
  ],
  ['silent', 'has never said that its ignition is on', neverOn(H)],
  ['standing', 'is heard, and has never said that its ignition is on', neverOn(5 * S)],
  ['silent', 'said long before its last fix that its ignition is off', saidBefore(H, 11 * MIN)],
  ['standing', 'is heard, and said long before its last fix that its ignition is off', saidBefore(5 * S, 30 * 24 * H)],
  ['parked', 'says in its heartbeats alone that its ignition is off', saidBefore(5 * S, 9 * MIN)],
  ['standing', 'was started a moment ago, and had no position since it was parked', started(20 * S)],
  ['standing', 'was started five minutes ago, and had no position since it was parked', started(5 * MIN)],
  ['gps_old', 'was started longer ago, and had no position since it was parked', started(5 * MIN + S)],
  ['gps_old', 'had no position at all, and was started long ago', { ...started(H), fix: undefined }],
  ['standing', 'had no position at all, and was started a moment ago', { ...started(20 * S), fix: undefined }],
  ['moving', 'is towed, and is behind', { ...ignition(false, 5 * S, H), ...behind({ agoMs: 5 * S, speed: 12 }) }],
  ['parked', 'is behind, and moved before', { ...ignition(false, 5 * S, H), ...behind({ agoMs: H, speed: 12 }) }],
  ['silent', 'is behind, and said long before its last fix that it is off', saidBehind(11 * MIN)],
  ['parked', 'is behind, and said in its heartbeats that it is off', saidBehind(9 * MIN)],
  ['no_route', 'is parked, is heard, and has no route', { ...ignition(false, 5 * S), route: undefined }],
])('the condition of a device is %s if it %s', (condition, _, facts) =>
  expect(conditionOf({ ...VAN, ...facts }, NOW)).toBe(condition),
)

/** Returns the findings about some devices. */
function found(...vans: readonly Partial<DeviceFacts>[]) {
  const survey = new DeviceSurvey(NOW)
  for (const [index, van] of vans.entries())
    survey.add({
      ...VAN,
      id: String(index),
      name: `Van ${index}`,
      route: { courier: '42', route: String(index) },
      ...van,
    })
  return inEnglish(diagnose({ now: NOW, observations: [], devices: survey.groups() }))
}

const nine = (facts: Partial<DeviceFacts>) => Array<Partial<DeviceFacts>>(9).fill(facts)

it('vans that send, sleep, or were never heard have no finding', () =>
  expect(
    found(
      {},
      ignition(false, H),
      ignition(false, 20 * S, 6 * H),
      { ...SILENT, usualMs: 60 * MIN },
      { heardAt: undefined },
      { ...SILENT, route: undefined },
      { ...SILENT, route: undefined, sender: LOST },
    ),
  ).toEqual([]))

it.each<[FindingCode, Partial<DeviceFacts>, Record<string, unknown>]>([
  ['silent', ignition(true, H), { link: 'connected', evidence: ['last heard 60 min ago'] }],
  ['silent', { ...ignition(false, 3 * H), sleepMs: H }, { evidence: ['last heard 3 h ago'] }],
  ['silent', SILENT, { link: 'connected', sinceAt: NOW - 5 * MIN - S, evidence: ['last heard 5 min ago'] }],
  [
    'wrong_port',
    { heardAt: undefined, fix: undefined, sender: LOST },
    {
      link: 'understood',
      sinceAt: NOW - 8 * MIN,
      message: 'Van 0, on a route now, sends to a port that does not understand it: nothing of it is taken',
      evidence: ['its id came from 10.9.9.9:1 at port 5023 (gt06), and was not understood there'],
      action:
        'it seems to speak h02, for which there is no listener: add one to listeners in gateway.yaml, and set its port in the device',
    },
  ],
  [
    'wrong_port',
    { ...SILENT, sender: { ...LOST, speaks: { protocol: 'h02', port: 5013 } } },
    { action: 'it seems to speak h02: set port 5013 in the device' },
  ],
  [
    'wrong_port',
    { ...SILENT, sender: { ...LOST, speaks: undefined } },
    { action: expect.stringMatching(/^set the port of its protocol in the device, or add a listener/) },
  ],
  [
    'clock_behind',
    { behind: BEHIND, fix: { newAt: NOW - 10 * MIN, time: NOW - 190 * MIN } },
    { evidence: ['3 h behind: time_zone "-03:00" fits'] },
  ],
  [
    'clock_behind',
    {
      behind: { ms: 365 * 24 * H, sinceAt: NOW - 40 * S },
      fix: { newAt: NOW - 10 * MIN, time: NOW - 10 * MIN },
      isUnplaced: true,
      unplaced: { reason: 'past', at: NOW, isHeld: false },
    },
    {
      message: 'the times of Van 0 are behind, always by the same',
      action: expect.stringContaining('if none fits, set the clock of the device'),
      evidence: ['365 days behind: no time zone fits'],
    },
  ],
  [
    'gps_old',
    { fix: undefined, ...UNCONNECTED, heardSince: NOW - 6 * MIN },
    { sinceAt: NOW - 6 * MIN, evidence: ['no position yet'] },
  ],
  ['gps_old', started(6 * MIN), { sinceAt: NOW - 6 * MIN, evidence: ['last new position 9 h ago'] }],
  [
    'gps_old',
    {
      fix: { newAt: NOW - 10 * MIN, time: NOW },
      isUnplaced: true,
      unplaced: { reason: 'invalid', at: NOW, isHeld: false },
    },
    { sinceAt: NOW - 10 * MIN, evidence: ['last new position 10 min ago, now filtered as invalid'] },
  ],
  ['clock_behind', { behind: BEHIND }, { evidence: ['3 h behind: time_zone "-03:00" fits'], sinceAt: NOW - 40 * S }],
  [
    'clock_behind',
    { behind: BEHIND, source: 'devices.yaml:9' },
    { action: 'set time_zone: "-03:00" for Van 0 at devices.yaml:9, or have the device report UTC' },
  ],
  [
    'no_route',
    { ...NO_ROUTE, ended: { source: 'routes.csv:2', at: NOW - 600 * MIN } },
    { evidence: ['its fixes are held; its last line, routes.csv:2, ended 2026-11-19T22:00:00.000Z'] },
  ],
  ['clock_behind', { behind: { ...BEHIND, zone: '+00:00' } }, { evidence: ['3 h behind: remove its time_zone'] }],
  ['no_route', NO_ROUTE, { link: 'placed', evidence: ['its fixes are held'] }],
  [
    'unknown_device',
    { company: undefined, route: undefined, isHeldUnknown: true },
    { link: 'identified', subject: { device: '0' } },
  ],
])('the finding %s names the device: %j', (code, facts, expected) => {
  const [finding, ...others] = found(facts)
  expect(others).toEqual([])
  expect(finding).toMatchObject({ code, severity: 'warning', subject: { device: '0' }, count: 1, ...expected })
  expect(finding.message).toContain('Van 0')
})

const SAID = NOW - 10 * MIN
const raised = (
  alarm: string,
  more: SaidFacts = {},
  times: { at?: number; cameAt?: number } = {},
): Partial<DeviceFacts> => {
  const { at = SAID, cameAt = at } = times
  return { said: { ...more, alarms: [{ alarm, at, sinceAt: at, cameAt }, ...(more.alarms ?? [])] } }
}
const restored = (at: number) => [{ alarm: 'power_restored', at, sinceAt: at, cameAt: NOW }]
const later = (value: number) => ({ value, at: SAID + S })

it.each<[FindingCode, string, string]>([
  ['sos', 'sos', 'SOS, raised at 2026-11-20T07:50:00.000Z'],
  ['power_cut', 'power_cut', 'power cut, said at 2026-11-20T07:50:00.000Z'],
  ['battery_low', 'low_battery', 'battery low, said at 2026-11-20T07:50:00.000Z'],
  ['jammed', 'jamming', 'jamming, said at 2026-11-20T07:50:00.000Z'],
])('the finding %s begins with the alarm %s, and says when it was raised', (code, alarm, evidence) => {
  const severity = code === 'sos' ? 'error' : 'warning'
  const expected = { code, severity, link: 'connected', sinceAt: SAID, evidence: [evidence] }
  expect(found(raised(alarm))).toMatchObject([{ ...expected, subject: { device: '0' } }])
  expect(found({ ...raised(alarm), ...NO_ROUTE }).map((each) => each.code)).toEqual(
    expect.arrayContaining([code, 'no_route']),
  )
  expect(found({ ...raised(alarm), company: undefined })).toEqual([])
  expect(found(raised(alarm, {}, { at: SAID - 60 * MIN, cameAt: SAID }))).toMatchObject([
    { code, evidence: [`${evidence.replace('07:50', '06:50')}, came at 2026-11-20T07:50:00.000Z`] },
  ])
})

it.each<[string, string, SaidFacts, boolean]>([
  ['power_cut', 'power is restored', { alarms: restored(SAID + S) }, true],
  ['power_cut', 'nothing comes; before, power was restored', { alarms: restored(SAID - S) }, false],
  ['power_cut', 'it measures 12.4 V', { external_voltage: later(12.4) }, true],
  ['power_cut', 'nothing comes; its frame has 12.4 V', { external_voltage: { value: 12.4, at: SAID } }, false],
  ['power_cut', 'it measures 0.3 V', { external_voltage: later(0.3) }, false],
  ['power_cut', 'it is charging', { charging: { value: true, at: SAID + S } }, true],
  ['power_cut', 'it is not charging', { charging: { value: false, at: SAID + S } }, false],
  ['power_cut', 'its own battery has 90 %', { battery_percent: later(90) }, false],
  ['low_battery', 'it has 21 %', { battery_percent: later(21) }, true],
  ['low_battery', 'it has 20 %', { battery_percent: later(20) }, false],
  ['low_battery', 'it is charging', { charging: { value: true, at: SAID + S } }, true],
  ['low_battery', 'the vehicle has 12.4 V', { external_voltage: later(12.4) }, false],
  ['sos', 'it is charging', { charging: { value: true, at: SAID + S } }, false],
])('with the alarm %s, and if %s: %j, the finding is over: %s', (alarm, _, more, isOver) =>
  expect(found(raised(alarm, more))).toHaveLength(isOver ? 0 : 1),
)

it.each<[string, string, number, number, boolean]>([
  ['power_cut', 'a day ago', 24 * H, 5 * S, false],
  ['power_cut', 'more than a day ago', 24 * H + 1, 5 * S, true],
  ['low_battery', 'more than a day ago', 24 * H + 1, 5 * S, true],
  ['sos', 'an hour before it was heard last', H + 5 * S, 5 * S, false],
  ['sos', 'more than an hour before it was heard last', H + 6 * S, 5 * S, true],
  ['jamming', 'more than an hour before it was heard last', H + 6 * S, 5 * S, true],
  ['jamming', 'a moment before it fell silent for long', 20 * H, 20 * H - S, false],
  ['jamming', 'more than a day ago, and it is silent since', 24 * H + 1, 24 * H, true],
])(
  'the finding of the alarm %s that came %s (%i ms; heard %i ms ago) is over: %s',
  (alarm, _, agoMs, heardAgoMs, isOver) => {
    const facts = {
      ...raised(alarm, {}, { at: NOW - agoMs }),
      heardAt: NOW - heardAgoMs,
      usualMs: 24 * H,
      fix: VAN.fix,
    }
    const codes = found(facts).map(({ code }) => code)
    expect(codes.filter((code) => code !== 'gps_old')).toHaveLength(isOver ? 0 : 1)
  },
)

it('a silent van with an alarm has both findings', () =>
  expect(found({ ...SILENT, ...raised('low_battery') }).map(({ code }) => code)).toEqual(['battery_low', 'silent']))

it('an SOS comes first in the verdict, and breaks no link', () => {
  const survey = new DeviceSurvey(NOW)
  for (const [index, facts] of [SILENT, raised('sos')].entries())
    survey.add({ ...VAN, id: String(index), name: `Van ${index}`, ...facts })
  const findings = diagnose({ now: NOW, observations: [], devices: survey.groups() })
  expect(inEnglish(verdict(findings))).toBe('SOS from Van 1; 1 more finding.')
  expect(linkStates(findings)[0]).toMatchObject({ link: 'connected', state: 'ok', findings: ['sos', 'silent'] })
})

it('many vans without power are one finding, but each SOS has its own', () => {
  const message = 'the power of 9 devices was cut, says the tracker'
  expect(found(...nine(raised('power_cut')))).toMatchObject([
    { code: 'power_cut', subject: { company_id: '7' }, count: 9, message },
  ])
  expect(found(...nine(raised('sos'))).map((each) => each.message)).toEqual(
    Array.from({ length: 9 }, (_, n) => `SOS from Van ${n}`),
  )
})

it('more than 100 vans with an SOS are one finding for each company', () => {
  const findings = found(...vansLike(raised('sos'), 101, '7'), ...vansLike(raised('sos'), 100, '8'))
  expect(findings).toHaveLength(101)
  const message = 'SOS from 101 devices'
  expect(findings[0]).toMatchObject({ code: 'sos', subject: { company_id: '7' }, count: 101, message })
  expect(findings[100]).toMatchObject({ code: 'sos', subject: { device: '200', company_id: '8' }, count: 1 })
})

it('two_on_route names the vans that send on one route, but not two trackers of one van, nor a silent one', () => {
  const route = { courier: '42', route: '1001' }
  expect(found({ route }, { route })).toMatchObject([
    {
      code: 'two_on_route',
      subject: { company_id: '7', route_id: '1001' },
      count: 2,
      evidence: ['Van 0, Van 1 on route 1001'],
    },
  ])
  const twice = [
    { route, name: 'Van 9' },
    { route, name: 'Van 9' },
  ] as const
  expect(found(...twice)).toEqual([])
  expect(found(...twice, { route })).toMatchObject([{ count: 2, evidence: ['Van 9, Van 2 on route 1001'] }])
  expect(found({ route }, { route, company: '8' })).toEqual([])
  expect(found({ route }, { route, ...ignition(false, H) })).toEqual([])
  expect(found({ route }, { route, ...ignition(false, MIN) })).toMatchObject([{ code: 'two_on_route', count: 2 }])
  expect(found({ route }, { route, ...SILENT, usualMs: 60 * MIN, heardAt: NOW - 300 * MIN })).toMatchObject([
    { code: 'silent' },
  ])
})

it('a van that fell silent with others of its company has no finding of its own, unless it was silent before', () => {
  const foundAt = NOW - 4 * MIN
  expect(found({ ...SILENT, stopped: { of: 'company', foundAt } })).toEqual([])
  expect(found({ ...SILENT, stopped: { of: 'companies', foundAt } })).toMatchObject([{ code: 'silent' }])
  const longSilent = { ...SILENT, heardAt: NOW - 12 * MIN }
  expect(found({ ...longSilent, stopped: { of: 'company', foundAt } })).toMatchObject([{ code: 'silent' }])
})

it('10,000 silent vans are one finding for each company, which names the first of them', () => {
  const [second, first, ...others] = found(
    ...Array.from({ length: 10_000 }, (_, n) => ({ ...SILENT, company: n === 0 ? '8' : '7' })),
  )
  expect(others).toEqual([])
  expect(first).toMatchObject({ code: 'silent', subject: { device: '0', company_id: '8' } })
  expect(second).toMatchObject({
    code: 'silent',
    subject: { company_id: '7' },
    count: 9999,
    message: 'nothing is heard of 9999 devices, on a route now',
    evidence: ['Van 1, Van 2, Van 3, Van 4, Van 5 and 9994 more', 'the longest: Van 1, last heard 5 min ago'],
  })
})

it('vans whose messages are refused are not counted as silent', () => {
  const survey = new DeviceSurvey(NOW)
  for (const [index, van] of nine(SILENT).entries())
    survey.add({ ...VAN, id: String(index), route: { courier: '42', route: '1' }, ...van }, index > 2)
  expect(survey.groups()).toMatchObject([{ code: 'silent', count: 3, named: [{ id: '0' }, { id: '1' }, { id: '2' }] }])
})

it('many routes with two vans are one finding', () => {
  const vans = Array.from({ length: 14 }, (_, n) => ({ route: { courier: '42', route: String(n >> 1) } }))
  expect(found(...vans)).toMatchObject([{ code: 'two_on_route', subject: { company_id: '7' }, count: 7 }])
})

it('checksum_errors needs three damaged frames', () => {
  const seen = { code: 'checksum_errors', subject: { device: '1' }, sinceAt: NOW, lastAt: NOW, evidence: [] } as const
  const findings = (count: number) => diagnose({ now: NOW, observations: [{ ...seen, count }] })
  expect(findings(2)).toEqual([])
  expect(findings(3)).toMatchObject([{ code: 'checksum_errors', link: 'understood', count: 3 }])
})

it.each([
  [45 * S, '45 s'],
  [12 * MIN, '12 min'],
  [180 * MIN, '3 h'],
  [200 * MIN, '3 h 20 min'],
  [4 * 24 * 60 * MIN, '4 days'],
])('a duration of %i ms is written as %s', (ms, text) => expect(inEnglish(durationText(ms))).toBe(text))

/** Returns several vans of a company. */
function vansLike(van: Partial<DeviceFacts>, count: number, company: string): Partial<DeviceFacts>[] {
  return Array.from({ length: count }, () => ({ ...van, company }))
}
