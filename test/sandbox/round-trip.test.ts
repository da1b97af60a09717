import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Fix } from '../../protocols/kit/index.ts'
import { createFleet } from '../../src/sandbox/fleet.ts'
import { type Speech, speeches } from '../../src/sandbox/speak/index.ts'
import { acknowledgesFixes } from '../rig/vans.ts'
import { say } from '../support/speeches.ts'
import { RESOLUTION, type WireResolution } from './resolution.ts'

const YEAR_ENDS = ['2019-12-31T23:59:59Z', '2020-01-01T00:00:00Z', '2024-02-29T12:00:00Z', '2038-01-19T03:14:08Z'].map(
  Date.parse,
)

const number = (min: number, max: number, ...edges: readonly number[]) =>
  fc.oneof(fc.double({ min, max, noNaN: true }), fc.constantFrom(min, max, ...edges))

const FIX: fc.Arbitrary<Fix> = fc.record({
  time: fc.oneof(
    fc
      .integer({ min: Date.UTC(2010, 0, 1) / 1000, max: Date.UTC(2068, 11, 31) / 1000 })
      .map((seconds) => seconds * 1000),
    fc.constantFrom(...YEAR_ENDS),
  ),
  // A minute that must not be rounded to 60, and places close to zero.
  latitude: number(-90, 90, 0, -0.0000004, 50.999999999, -33.868819),
  longitude: number(-180, 180, 0, 0.0000004, -0.999999999, 13.404954),
  valid: fc.constant(true),
  speed: number(0, 70),
  heading: number(0, 359.999, 359.4),
  altitude: number(-100, 6000, 0),
  accuracy: number(1, 50),
  hdop: number(0.5, 9.9),
  satellites: fc.integer({ min: 3, max: 15 }),
})

describe.each(speeches.map((speech) => [speech.name, speech] as const))('%s', (name, speech) => {
  const [{ id }] = createFleet(1, [speech])
  const fixes = fc.array(FIX, { minLength: 1, maxLength: Math.min(5, speech.maxFixes) })

  it('sends fixes that its decoder reads the same, and recognises the answer', () => {
    fc.assert(
      fc.property(fixes, (said) => {
        const now = (said.at(-1) as Fix).time + 2000
        const heard = say(speech, said, { id, now })
        if (speech.transport !== 'mqtt') expect(heard.device).toBe(id)
        expect(heard.fixes).toHaveLength(said.length)
        for (const [index, fix] of said.entries()) expectSame(heard.fixes[index], fix, RESOLUTION[name])
        expectAnswered(speech, heard.verdicts)
      }),
      { numRuns: 50 },
    )
  })

  it('puts as many fixes into a packet as it can hold', () => {
    const most = fc.sample(FIX, { numRuns: speech.maxFixes, seed: 1 })
    const heard = say(speech, most, { id, now: (most.at(-1) as Fix).time })
    expect(heard.fixes.map(({ time }) => time)).toEqual(most.map(({ time }) => time))
    expectAnswered(speech, heard.verdicts)
  })
})

/** Checks that the last answer accepts the packet, and no earlier one. */
function expectAnswered(speech: Speech, verdicts: readonly (boolean | undefined)[] | undefined): void {
  if (speech.transport === 'http' || speech.transport === 'mqtt' || !acknowledgesFixes(speech))
    return expect(verdicts).toBeUndefined()
  expect(verdicts?.at(-1)).toBe(true)
  expect(verdicts?.slice(0, -1).every((verdict) => verdict === undefined)).toBe(true)
}

function expectSame(heard: Fix, { latitude, longitude, heading = 0, ...said }: Fix, wire: WireResolution): void {
  expect([heard.time, heard.valid]).toEqual([said.time, true])
  expectNear(heard.latitude - latitude, wire.place)
  expectNear(heard.longitude - longitude, wire.place)
  const altitude = Math.max(wire.lowest ?? -Infinity, said.altitude ?? 0)
  for (const [key, value] of Object.entries({ ...said, altitude })) {
    const step = wire[key as keyof WireResolution]
    if (step !== undefined) expectNear((heard[key as keyof Fix] as number) - (value as number), step)
    else if (key !== 'time' && key !== 'valid') expect(heard[key as keyof Fix]).toBeUndefined()
  }
  // 359.9 and 0 are close to each other.
  expectNear((((heard.heading as number) - heading + 540) % 360) - 180, wire.heading ?? 0)
  expect(heard.heading).toBeLessThan(360)
}

/** Checks a difference of at most half a step, and a little more for floating-point numbers. */
function expectNear(difference: number, step: number): void {
  expect(Math.abs(difference)).toBeLessThanOrEqual(step / 2 + 1e-9)
}
