import type { AuditJson } from '../../../admin/schemas/audit.ts'
import type { FindingJson } from '../../../admin/schemas/findings.ts'
import type { WriterResultJson } from '../../../admin/schemas/roster.ts'
import { exact } from '../../format.ts'
import { words } from '../../words/index.ts'

export const KINDS = ['change', 'roster', 'ended'] as const

/** One thing that happened: a request for a change (of a roster: with its result), a roster of a file, or a finding that ended. */
export type ActivityEntry = { readonly key: string; readonly at: string } & (
  | { readonly kind: 'change'; readonly row: AuditJson; readonly result?: WriterResultJson }
  | { readonly kind: 'roster'; readonly result: WriterResultJson }
  | { readonly kind: 'ended'; readonly finding: FindingJson }
)

interface Sources {
  readonly audit: readonly AuditJson[]
  readonly roster: readonly WriterResultJson[]
  readonly ended: readonly FindingJson[]
}

/** All entries, latest first. */
export function entriesOf({ audit, roster, ended }: Sources): ActivityEntry[] {
  const changes = audit.map((row) => ({
    kind: 'change' as const,
    key: row.id,
    at: row.at,
    row,
    result: resultOf(row, roster),
  }))
  const shown = new Set(changes.flatMap(({ result }) => result ?? []))
  const others = roster.filter((result) => !shown.has(result))
  const entries: ActivityEntry[] = [
    ...changes,
    ...others.map((result) => ({
      kind: 'roster' as const,
      key: `${result.kind} ${result.writer} ${result.company_id} ${result.at}`,
      at: result.at,
      result,
    })),
    ...ended.map((finding) => ({
      kind: 'ended' as const,
      key: `${finding.code} ${JSON.stringify(finding.subject)} ${finding.since_at}`,
      at: finding.ended_at ?? finding.since_at,
      finding,
    })),
  ]
  return entries.toSorted((one, other) => other.at.localeCompare(one.at))
}

/** Whether an entry is of this kind; a change of the roster is a roster too. */
export function isOf(entry: ActivityEntry, kind: ActivityEntry['kind']): boolean {
  return entry.kind === kind || (kind === 'roster' && entry.kind === 'change' && entry.result !== undefined)
}

/** Returns the result of a request's put: that of its token which was stored when the request was answered. */
function resultOf(
  { at, token, operation }: AuditJson,
  roster: readonly WriterResultJson[],
): WriterResultJson | undefined {
  if (!/^\/admin\/(?:routes|devices)$|assign$/.test(operation)) return undefined
  return roster.find(
    ({ kind, writer, at: keptAt }) =>
      kind === 'put' && writer === token && Math.abs(Date.parse(keptAt) - Date.parse(at)) < SAME_MS,
  )
}

/** Returns the text that a search looks through. */
export function entryText(entry: ActivityEntry): string {
  switch (entry.kind) {
    case 'change':
      return `${deedOf(entry.row)} ${entry.row.path} ${entry.row.token} ${entry.row.status} ${String(entry.row.summary?.moves ?? '')}`
    case 'roster':
      return `${entry.result.writer} ${words.activity.rosterOf}`
    default:
      return [entry.finding.code, entry.finding.message, ...entry.finding.evidence].join(' ')
  }
}

/** Returns the purpose of a request in words; for an operation without words, its method and path. */
export function deedOf({ method, operation }: AuditJson): string {
  return words.activity.deed[`${method} ${operation}`] ?? `${method} ${operation}`
}

/** The id of the device that a request was about. */
export function deviceInPath({ path, operation }: AuditJson): string | undefined {
  if (!operation.startsWith('/admin/devices/{id}')) return undefined
  const [, id] = /^\/admin\/devices\/([^/?]+)/.exec(path) ?? []
  try {
    return id && decodeURIComponent(id)
  } catch {
    return id
  }
}

/** Returns the query of a request as `name value`, without parts that are shown elsewhere. */
export function detailsOf({ path }: AuditJson): string[] {
  const query = new URLSearchParams(path.split('?')[1] ?? '')
  query.delete('force')
  query.delete('redeliver')
  const names: Readonly<Record<string, string | undefined>> = words.activity.detail
  return [...query].map(([name, value]) =>
    value === 'true' ? (names[name] ?? name) : `${names[name] ?? name} ${value}`,
  )
}

/** Returns, in words, which routes fixes were redelivered to; any other text unchanged. */
export function movesIn({ summary }: AuditJson, nameOf: (device: string) => string): string[] {
  const { moves } = summary ?? {}
  if (typeof moves !== 'string' || moves === '') return []
  return moves.split('; ').map((text) => {
    const { device, fixes, from, to } = MOVE.exec(text)?.groups ?? {}
    if (device === undefined) return text
    const [[, fromCourier, fromRoute], [, toCourier, toRoute]] = [from.split('/'), to.split('/')]
    const isOne = fromRoute === toRoute
    const count = Number(fixes)
    return words.activity.move(
      words.fixes(count, exact(count)),
      nameOf(device),
      words.redeliver.route(fromRoute, isOne ? fromCourier : undefined),
      words.redeliver.route(toRoute, isOne ? toCourier : undefined),
    )
  })
}

/** As the audit has it: `356307042441013: 412 from 7/42/1001 to 7/42/1003`. */
const MOVE = /^(?<device>.+): (?<fixes>\d+) from (?<from>\d+\/\d+\/\d+) to (?<to>\d+\/\d+\/\d+)$/
const SAME_MS = 3000
