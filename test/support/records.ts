import { slicesOf } from '../../src/store/index.ts'

/** Packed records one by one. */
export function records(bytes: Buffer): Buffer[] {
  return Array.from(slicesOf(bytes, 1), (slice) => slice.records)
}
