import { yieldToEventLoop } from '../../async.ts'
import type { Mistake } from '../../config/problem.ts'
import type { RouteRow } from '../../config/routes.ts'
import { overlaps } from '../../roster/advice.ts'
import { assignmentOf } from '../../roster/file-content.ts'
import type { Roster } from '../../roster/roster.ts'
import { placeOfDevice } from '../device/list.ts'
import { compare } from '../paging.ts'
import { type RosterBody, said } from './body.ts'
import type { RosterPlan } from './plan.ts'

/** What a put answers; `warnings` only where there are some. */
export async function planJson(plan: Omit<RosterPlan, 'write'>, { lineAt }: RosterBody, roster: Roster) {
  const { added, changed, removed, rejected, withoutRoute, devices } = plan
  const warnings = await overlapsIn(plan.rows, roster)
  const remark = (mistake: Mistake) => ({ line: lineAt(mistake.at), message: said(mistake) })
  return {
    added,
    changed,
    removed,
    rejected: rejected.map(remark),
    ...(warnings.length > 0 && { warnings: warnings.map(remark) }),
    without_route: withoutRoute.toSorted((a, b) => compare(placeOfDevice(a), placeOfDevice(b))).map(({ id }) => id),
    devices: devices.length,
  }
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
