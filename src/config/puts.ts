import type { RouteEdit } from './edits.ts'
import { giveWay } from './give-way.ts'
import type { DeviceIndex, RouteRow } from './routes.ts'
import { spanAt, topmost } from './spans.ts'

/** When the lines of a company that begin at a time were put last, as in `Edits`; 0 where they never were. */
export type LastPut = (company_id: string | undefined, from: number) => number

/** The put that decides on the lines that begin at a time is the last in whose interval it is. */
export function lastPuts(puts: readonly RouteEdit[]): LastPut {
  const byCompany = decidingParts(puts)
  return (company_id, from) => spanAt(byCompany.get(company_id) ?? [], from)?.at ?? 0
}

export interface NextPut {
  readonly puts: readonly RouteEdit[]
  readonly next: RouteEdit
  /** The lines of files, also those that are hidden by puts. */
  readonly rows: readonly RouteRow[]
  readonly index: DeviceIndex
  /** ms UTC */
  readonly now: number
}

/**
 * Puts that nobody needs beside another one: those that decide on nothing any more, and those that ended, with all their
 * lines, over 31 days ago and hide no line, be it of a file or of another put, which would be back without them.
 * @returns their times
 */
export async function obsoletePuts({ puts, next, rows, index, now }: NextPut): Promise<number[]> {
  const all = [...puts, next]
  const longAgo = now / 1000 - KEPT_S
  const recent = [...decidingParts(all).values()].flat().filter(({ until }) => until >= longAgo)
  const needed = new Set(recent.map(({ at }) => at))
  const lastPut = lastPuts(all)
  for (const { device, from } of rows.filter((row) => row.from < longAgo))
    for (const { company_id } of index(device)) needed.add(lastPut(company_id, from))
  for (const { at, company_id, rows: own } of puts) {
    await giveWay()
    for (const { from, until } of own) {
      const decides = lastPut(company_id, from)
      if (decides !== at || until >= longAgo) needed.add(decides)
    }
  }
  return puts.map(({ at }) => at).filter((at) => !needed.has(at))
}

/** The parts of the intervals of each company's puts in which they are the last, in order of time. */
function decidingParts(puts: readonly RouteEdit[]): ReadonlyMap<string | undefined, readonly RouteEdit[]> {
  const byCompany = Map.groupBy(puts, ({ company_id }) => company_id)
  return new Map(Array.from(byCompany, ([company_id, all]) => [company_id, topmost(all, ({ at }) => at)]))
}

/** How long lines stand after they have ended: fixes may come late. */
const KEPT_S = 31 * 86_400
