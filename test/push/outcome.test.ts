import { expect, it } from 'vitest'
import { consequence } from '../../src/push/lane-push.ts'

const answer = (status: number, retryAfterMs?: number) => ({ status, text: 'why', retryAfterMs })

it.each([200, 201, 202, 204, 299])('status %i delivers', (status) => {
  expect(consequence(answer(status))).toEqual({ to: 'delivered', status })
})

it.each([408, 425, 429, 500, 502, 503, 504, 599])('a push answered with %i is tried again', (status) => {
  expect(consequence(answer(status))).toEqual({ to: 'retry', status, leastMs: 0 })
})

it('a push is tried again when Retry-After says', () => {
  expect(consequence(answer(503, 7000))).toEqual({ to: 'retry', status: 503, leastMs: 7000 })
})

it.each(['timeout', 'refused', 'reset', 'dns'] as const)('a push without an answer (%s) is tried again', (fault) => {
  expect(consequence({ fault })).toEqual({ to: 'retry', status: fault, leastMs: 0 })
})

it('a push that is answered by a web page or a redirect of something else is tried again', () => {
  const outcome = { to: 'retry', status: 'not_the_api', leastMs: 0 }
  expect(consequence({ notTheApi: { status: 200, type: 'text/html' } })).toEqual(outcome)
  expect(consequence({ notTheApi: { status: 302, location: '/login' } })).toEqual(outcome)
})

it.each([413, 422])('status %i refuses the positions', (status) => {
  expect(consequence(answer(status))).toEqual({ to: 'refuse', status, message: 'why' })
})

it.each([400, 401, 403, 404, 405, 409, 410, 418, 451])('status %i parks the lane', (status) => {
  expect(consequence(answer(status))).toEqual({ to: 'park', status, message: 'why' })
})
