import { yieldToEventLoop } from '../async.ts'
import type { Edits, RouteEdit } from './edits.ts'
import type { DeviceIndex, RouteRow } from './routes.ts'
import { spanAt, topmost } from './spans.ts'

/** When the lines of a company that begin at a time were put last, as in `Edits`; 0 where they never were. */
export type LastPut = (company_id: string | undefined, from: number) => number

/** The put that decides on the lines that begin at a time is the last in whose interval it is. */
export function lastPuts(puts: readonly RouteEdit[]): LastPut {
  const byCompany = decidingParts(puts)
  return (company_id, from) => spanAt(byCompany.get(company_id) ?? [], from)?.at ?? 0
}

/** What a put makes of earlier ones. */
export interface Obsolete {
  /** The last write that it knows of, as in `Edits`. */
  readonly asOf: number
  /** Those that have rows which do not decide any more, without them; those that nobody needs, with nothing after. */
  readonly puts: readonly { readonly before: RouteEdit; readonly after?: RouteEdit }[]
}

export interface NextPut {
  readonly edits: Edits
  readonly next: RouteEdit
  /** The lines of files, also those that are hidden by puts. */
  readonly rows: readonly RouteRow[]
  readonly index: DeviceIndex
}

/**
 * What of the puts of a company nobody needs beside its next one: rows in whose place there are others, and puts that hide
 * no line of a file, which would be back without them, and have no row that has not ended over 31 days before the last write.
 * Lines of another machine's files nobody knows here: so of those puts the last 1,000 stay that decide on a time since then.
 */
export async function obsoletePuts({ edits, next, rows, index }: NextPut): Promise<Obsolete> {
  const { company_id } = next
  const own = edits.routes.filter((put) => put.company_id === company_id)
  const lastPut = lastPuts([...own, next])
  const parts = decidingParts([...own, next]).get(company_id) ?? []
  const hiding = new Set<number>()
  for (const { device, from } of rows) {
    await yieldToEventLoop()
    // Whose device it is that has no entry may turn out later.
    const meant = index(device)
    if (meant.length === 0 || meant.some((each) => each.company_id === company_id))
      hiding.add(lastPut(company_id, from))
  }
  // Of two clocks the one behind: Redis' own may have been ahead once, and writes go on from there.
  const longAgo = Math.min(edits.at, Date.now()) / 1000 - KEPT_S
  const recent = new Set(parts.filter(({ until }) => until >= longAgo).map(({ at }) => at))
  const kept = new Set([
    ...hiding,
    ...own
      .map(({ at }) => at)
      .filter((at) => recent.has(at))
      .slice(-MOST_KEPT),
  ])
  const puts: { before: RouteEdit; after?: RouteEdit }[] = []
  for (const before of own) {
    await yieldToEventLoop()
    const left = before.rows.filter(({ from }) => lastPut(company_id, from) === before.at)
    if (!kept.has(before.at) && !left.some(({ until }) => until >= longAgo)) puts.push({ before })
    else if (left.length < before.rows.length) puts.push({ before, after: { ...before, rows: left } })
  }
  return { asOf: edits.at, puts }
}

/** The parts of the intervals of each company's puts in which they are the last, in order of time. */
function decidingParts(puts: readonly RouteEdit[]): ReadonlyMap<string | undefined, readonly RouteEdit[]> {
  const byCompany = Map.groupBy(puts, ({ company_id }) => company_id)
  return new Map(Array.from(byCompany, ([company_id, all]) => [company_id, topmost(all, ({ at }) => at)]))
}

/** How long lines stand after they have ended: fixes may come late. */
const KEPT_S = 31 * 86_400
const MOST_KEPT = 1000
