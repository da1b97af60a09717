const SEED = Number(process.env.FAST_CHECK_SEED ?? 20_261_120)

/** How fast-check runs here: the same values every time, other ones with `FAST_CHECK_SEED=n`; shrinking comes to an end. */
export function runs(numRuns: number) {
  return { seed: SEED, numRuns, interruptAfterTimeLimit: 15_000 }
}
