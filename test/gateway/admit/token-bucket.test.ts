import { expect, it } from 'vitest'
import { Flood, MAX_DEBT_MS, takeTokens } from '../../../src/gateway/admit/flood.ts'
import { RecentlyUsed } from '../../../src/gateway/recently-used.ts'

const RATE = { perSecond: 10, burst: 50 }

/** Returns a function that takes tokens, and returns after how many ms they are paid. */
function bucket() {
  let paidUntil: number | undefined
  return (tokens: number, now: number) => {
    paidUntil = takeTokens(tokens, RATE, paidUntil, now)
    return Math.max(0, paidUntil - now)
  }
}

it('a rate allows its burst at once, then its tokens per second', () => {
  const take = bucket()
  const waits = Array.from({ length: 52 }, () => take(1, 0))
  expect(waits.slice(0, 50).every((ms) => ms === 0)).toBe(true)
  expect(waits.slice(50)).toEqual([100, 200])
  expect([take(0, 100), take(0, 200), take(1, 200)]).toEqual([100, 0, 100])
})

it('a rate allows its whole burst again after a pause, and no more', () => {
  const take = bucket()
  take(50, 0)
  expect(take(50, 1_000_000)).toBe(0)
  expect(take(1, 1_000_000)).toBe(100)
})

it('a rate counts fractions of tokens', () => {
  const take = bucket()
  take(49.5, 0)
  expect([take(0.5, 0), take(0.5, 0)]).toEqual([0, 50])
})

it('limits the debt of a sender to the longest wait, so that it is read again soon after a flood', () => {
  const take = bucket()
  expect(take(1e9, 0)).toBe(MAX_DEBT_MS)
  expect(take(0, MAX_DEBT_MS)).toBe(0)
})

it('a limit that grants no credit refuses beyond its burst, and charges nothing for what it refuses', () => {
  let now = 0
  const flood = new Flood(() => now)
  expect(flood.admit('logins', 'van', 301)).toBe(true)
  for (let i = 0; i < 1000; i++) expect(flood.admit('logins', 'van', 1)).toBe(false)
  now = 199
  expect(flood.admit('logins', 'van', 1)).toBe(false)
  now = 200
  expect([flood.admit('logins', 'van', 1), flood.admit('logins', 'van', 1)]).toEqual([true, false])
})

/** Values that count how many were made. */
function counted(max: number, lastsMs = 1000) {
  let made = 0
  const recent = new RecentlyUsed<number>(max, lastsMs)
  const get = (key: string, now = 0) => {
    const value = recent.get(key) ?? made++
    recent.set(key, value, now)
    return value
  }
  return { recent, get, made: () => made }
}

it('RecentlyUsed stays bounded, however many keys come', () => {
  const { recent, get } = counted(100)
  for (let i = 0; i < 10_000; i++) {
    get(String(i))
    expect(recent.size).toBeLessThanOrEqual(200)
  }
})

it('RecentlyUsed keeps a key that is used among many that are used once', () => {
  const { get } = counted(100)
  const kept = get('van')
  for (let i = 0; i < 10_000; i++) {
    get(String(i))
    if (i % 90 === 0) expect(get('van')).toBe(kept)
  }
})

it('RecentlyUsed forgets a key that was not used for two generations', () => {
  const { get, made } = counted(100)
  const first = get('van', 0)
  get('a', 1001)
  expect(get('van', 1500)).toBe(first)
  get('b', 2002)
  get('c', 3003)
  expect([get('van', 3004) === first, made()]).toEqual([false, 5])
})
