import { yieldToEventLoop } from '../../async.ts'
import type { Mistake } from '../../config/problem.ts'
import type { RouteRow } from '../../config/routes.ts'
import { overlaps } from '../../roster/advice.ts'
import { assignmentOf } from '../../roster/file-content.ts'
import type { Roster } from '../../roster/roster.ts'
import { type ApiRefusal, refuseFields } from '../../tracking/refusal.ts'
import { MAX_ERRORS } from '../../tracking/schemas/fields.ts'
import { placeOfDevice } from '../device/list.ts'
import { compare } from '../paging.ts'
import { type RosterBody, said } from './body.ts'
import type { RosterPlan } from './plan.ts'

/** What a put answers: `devices`: how many the company has; `warnings`: only where there are some. */
export async function planJson(
  plan: Omit<RosterPlan, 'write'>,
  { lineAt }: RosterBody,
  roster: Roster,
): Promise<object> {
  const { added, changed, removed, rejected, withoutRoute, devices } = plan
  const warnings = await overlapsIn(plan.rows, roster)
  const remarkOf = (mistake: Mistake) => ({ line: lineAt(mistake.at), message: said(mistake) })
  return {
    added,
    changed,
    removed,
    rejected: atMost(rejected, 'rejected', remarkOf),
    ...(warnings.length > 0 && { warnings: atMost(warnings, 'with a warning', remarkOf) }),
    without_route: withoutRoute.toSorted((a, b) => compare(placeOfDevice(a), placeOfDevice(b))).map(({ id }) => id),
    devices: devices.length,
  }
}

/** The refusal of a put of which no line is right. */
export function nothingTaken({ rejected }: Pick<RosterPlan, 'rejected'>, { lineAt }: RosterBody): ApiRefusal {
  const first = rejected.slice(0, MAX_ERRORS)
  return refuseFields(
    422,
    first.map((mistake) => ({ path: `line ${lineAt(mistake.at)}`, message: said(mistake) })),
  )
}

async function overlapsIn(rows: readonly RouteRow[], roster: Roster): Promise<Mistake[]> {
  const places = new Map(rows.map((row) => [sourceOf(row), row.at]))
  const lines = rows.flatMap((row) =>
    roster.meant(row.device).map(({ id }) => assignmentOf({ ...row, device: id }, sourceOf(row))),
  )
  const warnings: Mistake[] = []
  for (const ofDevice of Map.groupBy(lines, ({ device }) => device).values()) {
    await yieldToEventLoop()
    for (const { line, message } of overlaps(ofDevice))
      warnings.push({ at: places.get(line.source) ?? 0, key: 'from', message })
  }
  return warnings
}

function sourceOf({ line }: RouteRow): string {
  return `line ${line}`
}

interface Remark {
  readonly line: number
  readonly message: string
}

/** The first remarks, and how many there are of those after them, at the line of the next. */
function atMost(mistakes: readonly Mistake[], what: string, remarkOf: (mistake: Mistake) => Remark): Remark[] {
  const remarks = mistakes.slice(0, MAX_REMARKS).map(remarkOf)
  const rest = mistakes.length - remarks.length
  if (rest > 0) remarks.push({ ...remarkOf(mistakes[MAX_REMARKS]), message: `${rest} more lines are ${what}` })
  return remarks
}

const MAX_REMARKS = 1000
