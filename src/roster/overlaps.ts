import type { RouteLine } from './directory.ts'

/** A line that begins while an earlier one of its device holds. */
export interface Overlap {
  readonly line: RouteLine
  /** Says which of them wins. */
  readonly message: string
}

/** The lines that overlap for one device; of two with the same `from` the latter of `lines` counts as the later one. */
export function* overlappingLines(lines: readonly RouteLine[]): Generator<Overlap> {
  for (const ofDevice of Map.groupBy(lines, ({ device }) => device).values()) {
    if (ofDevice.length === 1) continue
    let before: RouteLine | undefined
    let longest: RouteLine | undefined
    for (const line of ofDevice.toSorted((a, b) => a.from - b.from)) {
      const earlier = before?.from === line.from ? before : longest
      if (earlier && line.from < earlier.until) yield { line, message: messageOf(line, earlier) }
      if (!longest || line.until > longest.until) longest = line
      before = line
    }
  }
}

function messageOf({ device, from }: RouteLine, earlier: RouteLine): string {
  const winner = from === earlier.from ? 'of the same from the later line wins' : 'the later from wins'
  return `overlaps ${earlier.source} for device ${device}: ${winner}`
}
