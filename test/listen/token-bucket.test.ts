import { describe, expect, it } from 'vitest'
import { MAX_DEBT_MS, RecentlyUsed, TokenBucket } from '../../src/listen/flood.ts'

const RATE = { perSecond: 10, burst: 50 }

describe('a token bucket', () => {
  it('gives its burst at once, then its rate', () => {
    const bucket = new TokenBucket(RATE)
    const waits = Array.from({ length: 52 }, () => bucket.take(1, 0))
    expect(waits.slice(0, 50).every((ms) => ms === 0)).toBe(true)
    expect(waits.slice(50)).toEqual([100, 200])
    expect([bucket.take(0, 100), bucket.take(0, 200), bucket.take(1, 200)]).toEqual([100, 0, 100])
  })

  it('is full again after its burst was paid back, and no fuller', () => {
    const bucket = new TokenBucket(RATE)
    bucket.take(50, 0)
    expect(bucket.take(50, 1_000_000)).toBe(0)
    expect(bucket.take(1, 1_000_000)).toBe(100)
  })

  it('counts parts of a token', () => {
    const bucket = new TokenBucket(RATE)
    bucket.take(49.5, 0)
    expect([bucket.take(0.5, 0), bucket.take(0.5, 0)]).toEqual([0, 50])
  })

  it('forgets debts beyond the longest wait, so that it is open again soon after a flood', () => {
    const bucket = new TokenBucket(RATE)
    expect(bucket.take(1e9, 0)).toBe(MAX_DEBT_MS)
    expect(bucket.take(0, MAX_DEBT_MS)).toBe(0)
  })

  it('admits nothing while there is a debt, and takes nothing for what it does not admit', () => {
    const bucket = new TokenBucket(RATE)
    bucket.take(51, 0)
    for (let i = 0; i < 1000; i++) expect(bucket.admit(1, 0)).toBe(false)
    expect([bucket.admit(1, 99), bucket.admit(1, 100), bucket.admit(1, 100)]).toEqual([false, true, false])
  })
})

/** Values that count how many were made. */
function counted(max: number, lastsMs = 1000) {
  let made = 0
  const recent = new RecentlyUsed(max, lastsMs, () => ({ number: made++ }))
  return { recent, get: (key: string, now = 0) => recent.get(key, now), made: () => made }
}

describe('what was used recently', () => {
  it('is bounded however many keys come', () => {
    const { recent, get } = counted(100)
    for (let i = 0; i < 10_000; i++) {
      get(String(i))
      expect(recent.size).toBeLessThanOrEqual(200)
    }
  })

  it('keeps what is used among many keys that are used once', () => {
    const { get } = counted(100)
    const kept = get('van')
    for (let i = 0; i < 10_000; i++) {
      get(String(i))
      if (i % 90 === 0) expect(get('van')).toBe(kept)
    }
  })

  it('forgets what was not used for two generations', () => {
    const { get, made } = counted(100)
    const first = get('van', 0)
    get('a', 1001)
    expect(get('van', 1500)).toBe(first)
    get('b', 2002)
    get('c', 3003)
    expect([get('van', 3004) === first, made()]).toEqual([false, 5])
  })
})
