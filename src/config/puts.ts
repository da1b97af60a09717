import type { RouteEdit } from './edits.ts'
import { spanAt, topmost } from './spans.ts'

/** Who put lines last, of a company, that begin at a time: the time of that put, as in `Edits`; 0 where nobody did. */
export type LastPut = (company_id: string | undefined, from: number) => number

/** Which put decides on the lines that begin at a time: the last in whose interval it is. */
export function lastPuts(puts: readonly RouteEdit[]): LastPut {
  const byCompany = decidingParts(puts)
  return (company_id, from) => spanAt(byCompany.get(company_id) ?? [], from)?.at ?? 0
}

/** A line of a company, as far as puts are concerned with it. */
export interface Beginning {
  readonly company_id: string
  readonly from: number
}

export interface NextPut {
  readonly puts: readonly RouteEdit[]
  readonly next: RouteEdit
  /** Lines of files, also those that are hidden by puts. */
  readonly ofFiles: Iterable<Beginning>
  /** ms UTC */
  readonly now: number
}

/**
 * Puts that nobody needs beside another one: those that decide on nothing any more, and those that ended, with all their
 * lines, over 31 days ago and hide no line, be it of a file or of another put, which would be back without them.
 * @returns their times
 */
export function obsoletePuts({ puts, next, ofFiles, now }: NextPut): number[] {
  const all = [...puts, next]
  const lastPut = lastPuts(all)
  const longAgo = now / 1000 - KEPT_S
  const needed = new Set<number>()
  for (const { company_id, from } of ofFiles) needed.add(lastPut(company_id, from))
  for (const { at, company_id, rows } of puts)
    for (const row of rows) {
      const decides = lastPut(company_id, row.from)
      if (decides !== at || row.until >= longAgo) needed.add(decides)
    }
  const deciding = new Set([...decidingParts(all).values()].flat().map(({ at }) => at))
  return puts.filter(({ at, until }) => !deciding.has(at) || (until < longAgo && !needed.has(at))).map(({ at }) => at)
}

/** The parts of the intervals of each company's puts in which they are the last, in order of time. */
function decidingParts(puts: readonly RouteEdit[]): ReadonlyMap<string | undefined, readonly RouteEdit[]> {
  const byCompany = Map.groupBy(puts, ({ company_id }) => company_id)
  return new Map(Array.from(byCompany, ([company_id, all]) => [company_id, topmost(all, ({ at }) => at)]))
}

/** How long lines stand after they have ended: fixes may come late. */
const KEPT_S = 31 * 86_400
