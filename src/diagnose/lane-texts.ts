import { companyOfLane, laneIds } from '../domain/ids.ts'
import { say, type Text } from '../texts/text.ts'
import type { RequestNames } from './facts.ts'

/** Groups what concerns lanes by their companies. */
export function byCompany<Lane extends { readonly lane: string }>(lanes: readonly Lane[]) {
  const groups = Map.groupBy(lanes, ({ lane }) => companyOfLane(lane))
  return Array.from(groups, ([company_id, some]) => ({ company_id, lanes: some }))
}

export function laneText(lane: string): Text {
  const { courier_id, route_id } = laneIds(lane)
  return say('courier {}, route {}', courier_id, route_id)
}

/** Returns the identifiers by which the API can look a request up. */
export function traceTexts(trace: RequestNames | undefined): Text[] {
  return trace ? [say('x-request-id {}, traceparent {}', trace.requestId, trace.traceparent)] : []
}

/** More lanes of a company with the same trouble are one finding. */
export const FEW = 5
