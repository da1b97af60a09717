import type { AppenderOptions } from '../../src/store/index.ts'

/** Options of an appender that waits for no batch and looks for no duplicates. */
export const UNFILTERED: AppenderOptions = {
  maxWaitMs: 0,
  duplicates: null,
  shares: { markBytes: Number.MAX_SAFE_INTEGER, heldFixes: Number.MAX_SAFE_INTEGER, misunderstoodBytes: 0 },
  hold: { maxFixesPerDevice: 100, maxFixesConfigured: 100, maxUnknownDevices: 10 },
}
