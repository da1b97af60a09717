import type { RouteRow } from '../config/routes.ts'
import type { Interval } from '../domain/times.ts'

/**
 * One line of the roster: which courier and route a device has from `from` (inclusive) until `until` (exclusive), unix
 * seconds. It never changes: an edited line is another assignment.
 */
export interface Assignment extends Omit<RouteRow, 'at' | 'line'> {
  /** Where the line was written: `routes.csv:17`, `admin 2026-11-20T08:00:00Z`, `pull https://host/path`. */
  readonly source: string
  /** The roster version of its write; undefined: it is not written yet. */
  readonly version?: number
  /** For a line that was put through the admin port, or pulled: it applies to devices of this company only. */
  readonly company_id?: string
  /** For such a line: its line number in the put. */
  readonly line?: number
}

/** Returns the key of an assignment, which has its whole content. Two equal lines are one assignment. */
export function assignmentField({ device, courier_id, route_id, from, until }: Omit<Assignment, 'source'>): string {
  return `${from} ${until} ${courier_id} ${route_id} ${device}`
}

/** A line that is put through the admin port, by its key. Until it is written it has no version, and wins over all others. */
export function putLine(
  { device, courier_id, route_id, from, until }: Omit<Assignment, 'source'>,
  { company_id, line }: Required<Pick<Assignment, 'company_id' | 'line'>>,
): readonly [field: string, line: Assignment] {
  const said = { device, courier_id, route_id, from, until }
  return [assignmentField(said), { ...said, source: PUT_SOURCE, company_id, line }]
}

/** Begin of the `source` of a put; the time of the write follows. */
export const PUT_SOURCE = 'admin'

/** The `source` of the lines of a roster that is pulled, by its name. */
export function pullSource(name: string): string {
  return PULL_SOURCE + name
}

const PULL_SOURCE = 'pull '

/** Returns the content of an assignment from its `assignmentField`. */
export function readAssignmentField(field: string): Omit<Assignment, 'source'> {
  const [, from, until, courier_id, route_id, device] = FIELD.exec(field) ?? []
  return { device, courier_id, route_id, from: Number(from), until: Number(until) }
}

const FIELD = /^(\S+) (\S+) (\S*) (\S+) (.*)$/s

/**
 * Returns the parts of a device's assignments that are in effect. All files together count as one writer; so does each pulled
 * roster, and each put. Among the lines of one writer the later `from` decides, whenever each was written. Among writers the
 * last write decides; for files and pulled rosters, that is the write of the line that decides.
 */
export function partsOf<Line extends Assignment>(assignments: readonly Line[]): readonly Line[] {
  if (assignments.length < 2) return assignments
  const writers = Map.groupBy(assignments, writerOf)
  const parts = [...writers.values()].flatMap((written) => topmost(written.toSorted(bySource)))
  return writers.size > 1 ? topmost(parts, ({ version = Infinity }) => version) : parts
}

function writerOf({ company_id, source, version }: Assignment): string | number | undefined {
  if (company_id === undefined) return 'files'
  return source.startsWith(PULL_SOURCE) ? source : version
}

/** In the order of lines: `routes.csv:9`, `routes.csv:10`, `routes/a.csv:1`. */
export function bySource(a: Assignment, b: Assignment): number {
  if (a.line !== undefined && b.line !== undefined) return a.line - b.line
  const [one, other] = [a, b].map(({ source }) => source.replace(/\d+$/, (line) => line.padStart(9, '0')))
  return one < other ? -1 : Number(one > other)
}

/**
 * Cuts overlapping spans so that one is left at each time: that of the highest rank, then the one with the latest `from`,
 * then the last one of `all`. Sorted by time; a span that continues after an interruption is returned in several pieces.
 */
export function topmost<Span extends Interval>(
  all: readonly Span[],
  rankOf: (span: Span) => number = () => 0,
): readonly Span[] {
  if (all.length < 2) return all
  const pieces: Span[] = []
  for (const span of all.toSorted((a, b) => rankOf(a) - rankOf(b) || a.from - b.from)) {
    const begin = pieces.findLastIndex(({ until }) => until <= span.from) + 1
    const end = pieces.findLastIndex(({ from }) => from < span.until) + 1
    const under = pieces.slice(begin, end)
    const before = under.filter(({ from }) => from < span.from).map((piece) => ({ ...piece, until: span.from }))
    const after = under.filter(({ until }) => until > span.until).map((piece) => ({ ...piece, from: span.until }))
    pieces.splice(begin, under.length, ...before, span, ...after)
  }
  return pieces
}
