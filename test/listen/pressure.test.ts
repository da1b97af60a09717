import { describe, expect, it } from 'vitest'
import { createPressure } from '../../src/listen/pressure.ts'
import { count } from '../support/listen.ts'

function watched(highMark: number, lowMark: number) {
  const pressure = createPressure(highMark, lowMark)
  const calls: string[] = []
  pressure.join({ pause: () => void calls.push('pause'), resume: () => void calls.push('resume') })
  return { pressure, calls }
}

describe('pressure', () => {
  it('counts what frames take beside their bytes: 3,000 each', () => {
    const { pressure, calls } = watched(4 * 3044, 2 * 3044)
    pressure.add(3 * 44, 3)
    expect(pressure.high).toBe(false)
    pressure.add(44)
    expect(pressure.high).toBe(true)
    pressure.remove(44)
    expect([pressure.high, calls]).toEqual([true, ['pause']])
    pressure.remove(44)
    expect([pressure.high, calls]).toEqual([false, ['pause', 'resume']])
    pressure.remove(2 * 44, 2)
  })

  it('counts bytes, too', () => {
    const { pressure, calls } = watched(10_000, 5_000)
    pressure.add(7000)
    expect([pressure.high, calls]).toEqual([true, ['pause']])
    pressure.remove(7000)
    expect([pressure.high, calls]).toEqual([false, ['pause', 'resume']])
  })

  it('tells the bytes that wait', async () => {
    const { pressure } = watched(1e6, 1e6)
    pressure.add(100, 7)
    expect(await count('in_flight_bytes')).toBe(100)
    pressure.remove(100, 7)
    expect(await count('in_flight_bytes')).toBe(0)
  })
})
