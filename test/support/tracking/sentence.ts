import { expect } from 'vitest'

/** Matches a sentence that says what to change, not a default text of a validator or runtime. */
export const SENTENCE: unknown = expect.stringMatching(
  /^(?!.*(?:Invalid|Too (?:big|small)|Unrecognized|received|call stack)).*\S+ \S+/s,
)
