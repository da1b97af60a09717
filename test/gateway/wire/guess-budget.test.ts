import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { GuessBudget } from '../../../src/gateway/wire/guess-budget.ts'
import { observations } from '../../../src/observe/observations.ts'
import { until } from '../../support/listen.ts'
import { inEnglish } from '../../support/texts.ts'

const PRESENT = { isGone: () => false }

/** A budget whose clock moves only while something is looked at, by `lookMs` each. */
function budgetOf(lookMs: number) {
  let now = 1_000_000
  const budget = new GuessBudget(() => now)
  const look = () => ((now += lookMs), {})
  return {
    budget,
    look,
    pass: (ms: number) => (now += ms),
    datagram: (peer: string) => budget.ofDatagram(peer, look) !== undefined,
  }
}

/** Returns the ms spent on datagrams within ten seconds, at most one a millisecond, each of another peer. */
function lookedAt(lookMs: number): number {
  const { datagram, pass } = budgetOf(lookMs)
  let [looked, elapsed] = [0, 0]
  for (let peer = 0; elapsed < 10_000; peer++) {
    const isLooked = datagram(`192.0.2.1:${peer}`)
    if (isLooked) looked++
    else pass(1)
    elapsed += isLooked ? lookMs : 1
  }
  return looked * lookMs
}

it.each([1, 5, 50])(
  'spends a tenth of ten seconds and its savings on detection when each look takes %i ms',
  (lookMs) => {
    expect(lookedAt(lookMs)).toBeGreaterThan(400)
    expect(lookedAt(lookMs)).toBeLessThanOrEqual(1000 + 200 + lookMs)
  },
)

it('leaves detection time for the first datagram of a new peer while another peer sends 1,000 a second', () => {
  const { datagram, pass } = budgetOf(2)
  const found = Array.from({ length: 20 }, (_, van) => {
    for (let n = 0; n < 1000; n++) {
      datagram('192.0.2.1:1')
      pass(1)
    }
    return datagram(`192.0.2.2:${van}`)
  })
  expect(found).not.toContain(false)
})

it('leaves detection time for a new peer while another network sends 1,000 datagrams a second from many ports', () => {
  const { datagram, pass } = budgetOf(2)
  let port = 0
  const flood = () => {
    for (let n = 0; n < 1000; n++) {
      datagram(`192.0.2.1:${port++}`)
      pass(1)
    }
  }
  flood()
  const found = Array.from({ length: 20 }, (_, van) => {
    flood()
    return datagram(`198.51.100.2:${van}`)
  })
  expect(found).not.toContain(false)
})

it('leaves half of the detection time to connections, and half to datagrams', async () => {
  const { budget, datagram, look } = budgetOf(1)
  for (let peer = 0; datagram(`192.0.2.1:${peer}`); peer++) if (peer > 1000) throw new Error('no end')
  expect(budget.mustWait).toBe(false)
  while (!budget.mustWait) await budget.inTurn('192.0.2.0/24', { ...PRESENT, look })
  const other = budgetOf(1)
  while (!other.budget.mustWait) await other.budget.inTurn('192.0.2.0/24', { ...PRESENT, look: other.look })
  expect(other.datagram('192.0.2.1:1')).toBe(true)
})

it('gives detection time to networks in turn: one connection does not wait behind a hundred of another', async () => {
  const { budget, look, pass } = budgetOf(10)
  while (!budget.mustWait) await budget.inTurn('192.0.2.0/24', { ...PRESENT, look })
  const order: string[] = []
  const begin = (network: string) =>
    budget.inTurn(network, { ...PRESENT, look: () => (look(), void order.push(network)) })
  const all = Array.from({ length: 100 }, () => begin('192.0.2.0/24'))
  all.push(begin('198.51.100.0/24'))
  pass(3_600_000)
  await until(() => expect(order).toContain('198.51.100.0/24'))
  expect(order.indexOf('198.51.100.0/24')).toBeLessThan(3)
  const passing = setInterval(() => pass(1000), 1)
  await Promise.all(all).finally(() => clearInterval(passing))
})

it('spends no detection time on a connection that ended while it waited', async () => {
  const { budget, look, pass } = budgetOf(10)
  while (!budget.mustWait) await budget.inTurn('192.0.2.0/24', { ...PRESENT, look })
  let isGone = false
  let looks = 0
  const waiting = budget.inTurn('192.0.2.0/24', { isGone: () => isGone, look: () => looks++ })
  isGone = true
  pass(3_600_000)
  await expect(waiting).resolves.toBeUndefined()
  expect(looks).toBe(0)
})

it('releases a connection that has ended from waiting for detection time, even if others come first', async () => {
  const { budget, look, pass } = budgetOf(10)
  while (!budget.mustWait) await budget.inTurn('192.0.2.0/24', { ...PRESENT, look })
  const first = [
    budget.inTurn('192.0.2.0/24', { ...PRESENT, look }),
    budget.inTurn('192.0.2.0/24', { ...PRESENT, look }),
  ]
  const gone = Array.from({ length: 5 }, () => budget.inTurn('203.0.113.0/24', { isGone: () => true, look }))
  await expect(Promise.all(gone)).resolves.toEqual(Array(5).fill(undefined))
  expect(budget.mustWait).toBe(true)
  pass(3_600_000)
  await Promise.all(first)
})

it('refuses detection to requests of a network of which many wait, and reports it', async () => {
  const { budget, look, pass } = budgetOf(10)
  while (!budget.mustWait) await budget.inTurn('192.0.2.0/24', { ...PRESENT, look })
  const waiting = Array.from({ length: 3 }, () => budget.inTurn('203.0.113.0/24', { ...PRESENT, look, mostWaiting: 2 }))
  await setImmediate()
  await expect(budget.inTurn('203.0.113.0/24', { ...PRESENT, look, mostWaiting: 2 })).resolves.toBeUndefined()
  expect(inEnglish(observations.current()).find(({ code }) => code === 'guesses_refused')?.evidence).toContain(
    'requests from 203.0.113.0/24',
  )
  pass(3_600_000)
  await Promise.all(waiting)
})
