import { describe, expect, it } from 'vitest'
import { Flood, MAX_DEBT_MS, takeTokens } from '../../../src/gateway/admit/flood.ts'
import { RecentlyUsed } from '../../../src/gateway/recently-used.ts'

const RATE = { perSecond: 10, burst: 50 }

/** Takes tokens again and again: returns in how many ms they are paid. */
function bucket() {
  let paidUntil: number | undefined
  return (tokens: number, now: number) => {
    paidUntil = takeTokens(tokens, RATE, paidUntil, now)
    return Math.max(0, paidUntil - now)
  }
}

describe('tokens of a rate', () => {
  it('are its burst at once, then its rate', () => {
    const take = bucket()
    const waits = Array.from({ length: 52 }, () => take(1, 0))
    expect(waits.slice(0, 50).every((ms) => ms === 0)).toBe(true)
    expect(waits.slice(50)).toEqual([100, 200])
    expect([take(0, 100), take(0, 200), take(1, 200)]).toEqual([100, 0, 100])
  })

  it('are all there again after the burst was paid back, and no more', () => {
    const take = bucket()
    take(50, 0)
    expect(take(50, 1_000_000)).toBe(0)
    expect(take(1, 1_000_000)).toBe(100)
  })

  it('are counted in parts', () => {
    const take = bucket()
    take(49.5, 0)
    expect([take(0.5, 0), take(0.5, 0)]).toEqual([0, 50])
  })

  it('are owed no longer than the longest wait, so that a sender is read again soon after a flood', () => {
    const take = bucket()
    expect(take(1e9, 0)).toBe(MAX_DEBT_MS)
    expect(take(0, MAX_DEBT_MS)).toBe(0)
  })

  it('are not given to what must not owe, and such a sender owes nothing for what it did not get', () => {
    let now = 0
    const flood = new Flood(() => now)
    expect(flood.admit('logins', 'van', 301)).toBe(true)
    for (let i = 0; i < 1000; i++) expect(flood.admit('logins', 'van', 1)).toBe(false)
    now = 199
    expect(flood.admit('logins', 'van', 1)).toBe(false)
    now = 200
    expect([flood.admit('logins', 'van', 1), flood.admit('logins', 'van', 1)]).toEqual([true, false])
  })
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

describe('RecentlyUsed', () => {
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
