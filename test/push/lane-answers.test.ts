import { expect, it } from 'vitest'
import { combinedAnswers } from '../../src/admin/lane-answers.ts'
import { LaneAnswers, type RequestEnd } from '../../src/push/lane-answers.ts'

const S = 1000

/** An ended request. */
type Ended = readonly [lane: string, beganS: number, endedS: number, end?: RequestEnd]

function answers(ended: readonly Ended[], inFlight: readonly (readonly [lane: string, beganS: number])[] = []) {
  const lanes = new LaneAnswers(Infinity)
  for (const [lane, beganS, endedS, end = 'answered'] of ended) {
    lanes.began(lane, beganS * S)
    lanes.ended(lane, { end, beganAt: beganS * S }, endedS * S)
  }
  for (const [lane, beganS] of inFlight) lanes.began(lane, beganS * S)
  return lanes
}

it('a request of one lane without an answer does not affect the other lanes', () => {
  const lanes = answers(
    [1, 2, 3].map((van) => [`7/${van}/1`, 118, 119]),
    [['7/5/1', 100]],
  )
  expect(lanes.figures(119 * S).unanswered).toMatchObject({ count: 1, named: [{ lane: '7/5/1', ms: 19 * S }] })
  expect(combinedAnswers([lanes.figures(119 * S)])).toMatchObject({
    unanswered: { count: 1, others: 3, known: 4, named: [{ lane: '7/5/1', others: 3 }] },
    slow: { count: 1, others: 3 },
  })
})

it('a lane waits since the first of consecutive requests that reach the time limit, until an answer comes', () => {
  const ended: Ended[] = [
    ['7/5/1', 0, 10, 'timeout'],
    ['7/5/1', 12, 22, 'timeout'],
  ]
  expect(answers(ended).figures(23 * S).unanswered.named).toMatchObject([{ lane: '7/5/1', ms: 23 * S }])
  expect(answers([...ended, ['7/5/1', 23, 24]]).figures(24 * S).unanswered.count).toBe(0)
  expect(answers([...ended, ['7/5/1', 23, 24, 'failed']]).figures(24 * S).unanswered.count).toBe(0)
})

it('no lane counts as answered if none has got an answer since', () => {
  const lanes = answers(
    [1, 2].map((van) => [`7/${van}/1`, 98, 99]),
    [1, 2, 5].map((van) => [`7/${van}/1`, 100]),
  )
  expect(combinedAnswers([lanes.figures(116 * S)])?.unanswered).toMatchObject({ count: 3, others: 0, known: 3 })
})

it('a lane with two requests in progress counts as answered after both answers', () => {
  const lanes = new LaneAnswers(Infinity)
  lanes.began('7/5/1', 0)
  lanes.began('7/5/1', 0)
  lanes.ended('7/5/1', { end: 'answered', beganAt: 0 }, S)
  expect(lanes.figures(16 * S).unanswered.count).toBe(1)
  lanes.ended('7/5/1', { end: 'answered', beganAt: 0 }, 16 * S)
  expect(lanes.figures(16 * S).unanswered.count).toBe(0)
})

it('a lane that two workers pushed counts once if there are few lanes', () => {
  const [one, other] = [answers([['7/5/1', 0, 1]]), answers([], [['7/5/1', 4]])]
  const figures = [one, other].map((lanes) => lanes.figures(20 * S))
  expect(combinedAnswers(figures)?.unanswered).toMatchObject({ count: 1, others: 0, known: 1 })
})

it('a lane is slow while its request takes five seconds, or if its last one did', () => {
  expect(answers([], [['7/5/1', 0]]).figures(6 * S).slow).toEqual({ count: 1, newestMs: 6 * S, leastMs: 6 * S })
  expect(answers([['7/5/1', 0, 8]]).figures(10 * S).slow).toEqual({ count: 1, newestMs: 10 * S, leastMs: 8 * S })
  expect(answers([['7/5/1', 0, 8]]).figures(70 * S).slow.count).toBe(0)
})

it('a lane that was not pushed for ten minutes is forgotten', () => {
  expect(
    answers([['7/5/1', 0, 1]])
      .figures(602 * S)
      .answered.at(-1),
  ).toBe(0)
  expect(answers([['7/5/1', 0, 1, 'timeout']]).figures(602 * S).unanswered.count).toBe(0)
})

it('time during which the worker was paused is no time without an answer, and makes no request slow', () => {
  const lanes = new LaneAnswers()
  const began = performance.now()
  const beganAt = lanes.began('7/5/1', began)
  lanes.figures(began + S)
  expect(lanes.figures(began + 60 * S).unanswered.count).toBe(0)
  lanes.ended('7/5/1', { end: 'answered', beganAt }, began + 61 * S)
  expect(lanes.figures(began + 61 * S)).toMatchObject({ unanswered: { count: 0 }, slow: { count: 0 } })
})
