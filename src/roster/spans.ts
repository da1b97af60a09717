import type { Interval } from '../config/times.ts'

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

/** The one of spans in order of time, without overlaps, that a time is in. */
export function spanAt<Span extends Interval>(spans: readonly Span[], time: number): Span | undefined {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (spans[middle].until <= time) low = middle + 1
    else high = middle
  }
  const span = spans[low]
  return span && span.from <= time ? span : undefined
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
