import type { Interval } from '../config/times.ts'
import type { Assignment } from './directory.ts'

/**
 * What holds of each assignment. Files, and each put, say one thing for a time: among their own assignments the later `from`
 * decides, whenever each was written. Of what they say the last write holds, which for files is that of the line that decides.
 */
export function partsOf(assignments: readonly Assignment[]): readonly Assignment[] {
  if (assignments.length < 2) return assignments
  const writers = Map.groupBy(assignments, ({ company_id, version }) => (company_id === undefined ? 'files' : version))
  const parts = [...writers.values()].flatMap((written) => topmost(written.toSorted(bySource)))
  return writers.size > 1 ? topmost(parts, ({ version = 0 }) => version) : parts
}

/** In the order of lines: `routes.csv:9`, `routes.csv:10`, `routes/a.csv:1`. */
export function bySource(a: Assignment, b: Assignment): number {
  if (a.line !== undefined && b.line !== undefined) return a.line - b.line
  const [nameA, lineA] = splitSource(a.source)
  const [nameB, lineB] = splitSource(b.source)
  return nameA === nameB ? lineA - lineB : nameA < nameB ? -1 : 1
}

function splitSource(source: string): [name: string, line: number] {
  const colon = source.lastIndexOf(':')
  return [source.slice(0, colon), Number(source.slice(colon + 1))]
}

/**
 * Cuts what overlaps, so that at each time one is left: the one of the highest rank, of those the one with the latest
 * `from`, of those the last of `all`. In order of time; one that goes on after an interruption is in several pieces.
 */
export function topmost<Span extends Interval>(
  all: readonly Span[],
  rankOf: (span: Span) => number = () => 0,
): readonly Span[] {
  if (all.length < 2) return all
  const pieces: Piece<Span>[] = []
  const open: Span[] = []
  let at = -Infinity
  const advance = (to: number) => {
    for (let top = open.at(-1); top && at < to; top = open.at(-1)) {
      const until = Math.min(top.until, to)
      if (until > at) append(pieces, { of: top, from: at, until })
      at = Math.max(at, until)
      if (top.until <= to) open.pop()
    }
    at = to
  }
  for (const span of all.toSorted((a, b) => a.from - b.from)) {
    advance(span.from)
    const below = open.findLastIndex((other) => rankOf(other) <= rankOf(span))
    open.splice(below + 1, 0, span)
  }
  advance(Infinity)
  return pieces.map(({ of, from, until }) => ({ ...of, from, until }))
}

interface Piece<Span> {
  readonly of: Span
  readonly from: number
  until: number
}

/** Something may have begun below the last piece, which goes on then. */
function append<Span>(pieces: Piece<Span>[], next: Piece<Span>): void {
  const last = pieces.at(-1)
  if (last?.of === next.of && last.until === next.from) last.until = next.until
  else pieces.push(next)
}
