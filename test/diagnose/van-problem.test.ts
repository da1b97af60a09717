import { expect, it } from 'vitest'
import { findingOf } from '../../src/diagnose/diagnose.ts'
import type { DeviceFacts } from '../../src/diagnose/device-facts.ts'
import { laneRefusals } from '../../src/diagnose/refusals.ts'
import { type VanProblemFacts, vanProblem } from '../../src/diagnose/van-problem.ts'
import { say } from '../../src/texts/text.ts'
import { inEnglish } from '../support/texts.ts'

const NOW = Date.parse('2026-11-22T08:20:00Z')
const MIN = 60_000
const DRIVES: DeviceFacts = {
  id: '1',
  name: 'Van 41',
  company: '8',
  heardAt: NOW - 5000,
  route: { courier: '42', route: '1001' },
  fix: { newAt: NOW - 5000, time: NOW - 6000, speed: 10 },
}
const REFUSED = laneRefusals([
  { company: '8', status: 403, message: '', since: NOW - MIN, lanes: ['8/42/1001'] },
  { company: '9', status: 404, message: 'no such route', since: NOW - 2 * MIN, lanes: ['9/1/2'] },
])

function problemOf(facts: Partial<VanProblemFacts> & { readonly device?: DeviceFacts } = {}) {
  return inEnglish(vanProblem({ device: DRIVES, noted: [], now: NOW, ...facts }))
}

/** Returns the problem of a van with an alarm while the tracking service refuses it. */
function codeBesideRefusal(code: 'sos' | 'battery_low') {
  const noted = [findingOf({ code, subject: { device: '1' } }, NOW, 'Van 41')]
  return problemOf({ noted, refusal: REFUSED.get('8/42/1001') })!.code
}

it('a van that sends and whose positions are accepted has no problem', () => {
  expect(problemOf()).toBeUndefined()
})

it('the problem of a van is that the tracking service refuses the password of its company', () => {
  expect(problemOf({ refusal: REFUSED.get('8/42/1001') })).toMatchObject({
    code: 'apikey_refused',
    severity: 'error',
    link: 'accepted',
    sinceAt: NOW - MIN,
    message: 'the tracking service refuses the password of company 8',
  })
})

it('the problem of a van is that the tracking service refuses its courier on its route', () => {
  const device = { ...DRIVES, route: { courier: '1', route: '2' } }
  const { message, code } = problemOf({ device, refusal: REFUSED.get('9/1/2') })!
  expect([code, message]).toEqual(['lane_refused', 'the tracking service refuses courier 1 on route 2'])
})

it('the problem of a van is that the tracking service refuses positions of its courier on its route', () => {
  const subject = { company_id: '8', courier_id: '42', route_id: '1001' }
  const message = say('the tracking API refuses positions of courier {} on route {}: they are parked', '42', '1001')
  const noted = [findingOf({ code: 'positions_refused', subject, message }, NOW)]
  expect(problemOf({ noted })).toMatchObject({
    code: 'positions_refused',
    severity: 'warning',
    link: 'accepted',
    message: 'the tracking service refuses positions of courier 42 on route 1001: they are kept',
  })
})

it('an SOS comes before a refusal as the problem of a van, and another alarm after it', () => {
  expect([codeBesideRefusal('sos'), codeBesideRefusal('battery_low')]).toEqual(['sos', 'apikey_refused'])
})

it('the problem of a van with a route is its silence since it was last heard', () => {
  const device = { ...DRIVES, heardAt: NOW - 20 * MIN }
  expect(problemOf({ device })).toMatchObject({
    code: 'silent',
    sinceAt: NOW - 20 * MIN,
    message: 'nothing is heard, though on a route now',
    action: 'have the power and the SIM card of the tracker checked',
  })
  expect(problemOf({ device: { ...device, route: undefined } })).toBeUndefined()
})

it('a van that sends refused messages does not have silence as its problem', () => {
  const device = { ...DRIVES, heardAt: NOW - 20 * MIN }
  const noted = [findingOf({ code: 'wrong_secret', subject: { device: '1' } }, NOW, 'Van 41')]
  expect(problemOf({ device, noted })?.code).toBe('wrong_secret')
})

it('the problem of a van with a route is that none of its messages was accepted, unless it is new', () => {
  const device = { id: '1', name: 'Van 41', company: '8', route: DRIVES.route }
  expect(problemOf({ device })).toMatchObject({
    code: 'never',
    message: 'nothing of its tracker was accepted so far',
  })
  expect(problemOf({ device, source: `admin ${new Date(NOW - MIN).toISOString()}` })).toBeUndefined()
  expect(problemOf({ device: { ...device, route: undefined } })).toBeUndefined()
  expect(problemOf({ device: { ...device, isHeldUnknown: true } })).toBeUndefined()
})

it('the problem of an unheard van is that messages lack what its entry requires', () => {
  const device = { id: '1', name: 'Van 41', company: '8', route: DRIVES.route, isHeldUnknown: true }
  expect(problemOf({ device, isUnproven: true })?.code).toBe('unproven')
  expect(problemOf({ device: { ...DRIVES, isHeldUnknown: true }, isUnproven: true })).toBeUndefined()
})

it('sending to the port of another protocol is no problem of a van', () => {
  const noted = [findingOf({ code: 'wrong_port', subject: { device: '1' } }, NOW, 'Van 41')]
  expect(problemOf({ noted })).toBeUndefined()
})

it('the problem of a van is not a failure of another company', () => {
  expect(REFUSED.get('8/42/1002')).toBeUndefined()
})
