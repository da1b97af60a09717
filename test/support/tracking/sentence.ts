import { expect } from 'vitest'

/** A sentence that says what to change: neither a validator's stock text nor a runtime's. */
export const SENTENCE: unknown = expect.stringMatching(
  /^(?!.*(?:Invalid|Too (?:big|small)|Unrecognized|received|call stack)).*\S+ \S+/s,
)
