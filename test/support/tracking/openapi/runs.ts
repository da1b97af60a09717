const SEED = Number(process.env.FAST_CHECK_SEED ?? 20_261_120)

/** The settings of fast-check: a fixed seed, another with `FAST_CHECK_SEED=n`, and bounded shrinking. */
export function runs(numRuns: number) {
  return { seed: SEED, numRuns, interruptAfterTimeLimit: 15_000 }
}
