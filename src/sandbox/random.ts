/** Returns numbers from 0 to below 1, the same for the same seed (mulberry32). */
export type Random = () => number

/** A source of random numbers that can be repeated. */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
}

/** A number from `least` to below `most`. */
export const between = (random: Random, least: number, most: number): number => least + random() * (most - least)
