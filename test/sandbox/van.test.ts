import { describe, expect, it } from 'vitest'
import type { Fix } from '../../protocols/kit/index.ts'
import { createVan } from '../../src/sandbox/van.ts'

const START = Date.UTC(2026, 10, 20, 8)
const SECONDS = 3600

describe.each([1, 2, 3, 4, 5])('a van of seed %i in an hour', (seed) => {
  const trip = drive(seed)
  const pairs = trip.slice(1).map((fix, index) => [trip[index], fix] as const)

  it('a simulated van drives the same tour for the same seed', () => {
    expect(drive(seed)).toEqual(trip)
  })

  it('a simulated van drives another tour than its neighbour', () => {
    expect(drive(seed + 1)[0]).not.toEqual(trip[0])
  })

  it('a simulated van drives at 20 to 60 km/h, and stands at stops', () => {
    const speeds = trip.map(({ speed = Number.NaN }) => Math.round(speed * 3.6))
    expect(speeds.every((speed) => speed === 0 || (speed >= 20 && speed <= 60))).toBe(true)
    const standing = speeds.filter((speed) => speed === 0).length
    expect(standing).toBeGreaterThan(SECONDS * 0.05)
    expect(standing).toBeLessThan(SECONDS * 0.6)
  })

  it('a simulated van never moves farther in a second than its speed allows', () => {
    const excess = pairs.map(([before, after]) => distance(before, after) - 60 / 3.6)
    expect(Math.max(...excess)).toBeLessThan(0.3)
  })

  it('a simulated van heads where it moves, except while it turns', () => {
    const straight = pairs.filter(([before, after]) => before.heading === after.heading && distance(before, after) > 5)
    expect(straight.length).toBeGreaterThan(SECONDS * 0.3)
    for (const [before, after] of straight)
      expect(turn(bearing(before, after), after.heading as number)).toBeLessThan(4)
  })

  it('a simulated van stays in town', () => {
    const centre = { ...trip[0], latitude: 52.52, longitude: 13.405 }
    expect(Math.max(...trip.map((fix) => distance(centre, fix)))).toBeLessThan(9000)
  })

  it('a simulated van repeats its tour', () => {
    const later = drive(seed, 3 * SECONDS).slice(SECONDS)
    expect(Math.min(...later.map((fix) => distance(trip[0], fix)))).toBeLessThan(17)
  })
})

function drive(seed: number, seconds = SECONDS): Fix[] {
  const van = createVan(seed)
  return Array.from({ length: seconds }, (_, second) => van(START + second * 1000))
}

/** Returns metres east and north, for distances within a city. */
function way(from: Fix, to: Fix): readonly [number, number] {
  const east = (to.longitude - from.longitude) * 111_320 * Math.cos((52.52 * Math.PI) / 180)
  return [east, (to.latitude - from.latitude) * 111_320]
}

function distance(from: Fix, to: Fix): number {
  return Math.hypot(...way(from, to))
}

function bearing(from: Fix, to: Fix): number {
  const [east, north] = way(from, to)
  return ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360
}

function turn(a: number, b: number): number {
  return Math.abs(((a - b + 540) % 360) - 180)
}
