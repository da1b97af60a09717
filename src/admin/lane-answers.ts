import type { LaneAnswerFacts } from '../diagnose/facts.ts'
import { type LaneFigures, WITHIN_S } from '../push/index.ts'
import { describeLanes, type Store } from '../store/index.ts'

/** Combines what the workers know of the answers to lanes; undefined if no worker reports it. */
export function combinedAnswers(workers: readonly LaneFigures[]): LaneAnswerFacts | undefined {
  if (workers.length === 0) return undefined
  const now = Date.now()
  const sums = (of: 'answered' | 'quick') =>
    WITHIN_S.map((_, index) => workers.reduce((sum, figures) => sum + (figures[of][index] ?? 0), 0))
  const [answered, quick] = [sums('answered'), sums('quick')]
  const count = (of: 'unanswered' | 'slow') => workers.reduce((sum, figures) => sum + figures[of].count, 0)
  const newestMs = (of: 'unanswered' | 'slow') =>
    leastOf(workers.flatMap((each) => (each[of].count > 0 ? each[of].newestMs : [])))
  const names = workers.every((each) => each.names) ? new Set(workers.flatMap((each) => each.names ?? [])) : undefined
  const waiting = (of: 'unanswered' | 'slow', others: readonly number[]) => ({
    count: count(of),
    others: within(others, newestMs(of)),
    known: names?.size ?? count(of) + (others.at(-1) ?? 0),
  })
  return {
    unanswered: {
      ...waiting('unanswered', answered),
      named: workers
        .flatMap(({ unanswered }) => unanswered.named)
        .map(({ lane, ms, at }) => ({ lane, since: at - ms, others: within(answered, now - at + ms), waiting: 0 })),
    },
    slow: {
      ...waiting('slow', quick),
      leastMs: leastOf(workers.flatMap(({ slow }) => (slow.count > 0 ? slow.leastMs : []))),
    },
  }
}

function leastOf(some: readonly number[]): number {
  return some.length === 0 ? 0 : Math.min(...some)
}

/** Returns how many lanes were answered within a time; may be too low, since they are counted by the steps of `WITHIN_S`. */
function within(counts: readonly number[], ms: number): number {
  const index = WITHIN_S.findLastIndex((seconds) => seconds * 1000 <= ms)
  return index < 0 ? 0 : counts[index]
}

/**
 * Resolves to the answers without lanes that another worker has since got an answer for, and without empty lanes. Rejects if
 * Redis does not answer.
 */
export async function confirmedAnswers(
  redis: Store,
  answers: LaneAnswerFacts | undefined,
): Promise<LaneAnswerFacts | undefined> {
  const { named = [] } = answers?.unanswered ?? {}
  if (!answers || named.length === 0) return answers
  const states = await describeLanes(
    redis,
    named.map(({ lane }) => lane),
  )
  const confirmed = named.flatMap((each, index) => {
    const { lastPush, waiting } = states[index]
    const isAnswered = lastPush !== undefined && lastPush.at > each.since && lastPush.status !== 'timeout'
    return waiting === 0 || isAnswered ? [] : [{ ...each, waiting }]
  })
  const { unanswered } = answers
  const gone = named.length - confirmed.length
  return { ...answers, unanswered: { ...unanswered, count: unanswered.count - gone, named: confirmed } }
}
