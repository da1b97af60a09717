import { createFleet, type FleetVan } from '../fleet.ts'
import { durationOption, speechesOption, vansOption } from '../options.ts'
import { speeches } from '../speak/index.ts'

/** As they stand on the command line. */
export interface DemoArguments {
  readonly vans?: string
  readonly seconds?: string
  /** Comma-separated. */
  readonly protocols?: string
}

export interface DemoPlan {
  readonly fleet: readonly FleetVan[]
  readonly drivingMs: number
}

/** What is to be shown. @throws UserError for an option that is wrong. */
export function demoPlan({ vans = '20', seconds = '30', protocols }: DemoArguments): DemoPlan {
  const chosen = protocols === undefined ? speeches : speechesOption(protocols)
  return { fleet: createFleet(vansOption(vans), chosen), drivingMs: durationOption('--seconds', seconds, INTERVAL_MS) }
}

/** Between two fixes of a van. */
export const INTERVAL_MS = 1000

/** `teltonika 8`, `gt06 4` …: how many speak what. */
export function fleetLabels(fleet: readonly FleetVan[]): string[] {
  const groups = Map.groupBy(fleet, ({ speech }) => speech.protocol)
  return [...groups].map(([protocol, { length }]) => `${protocol} ${length}`)
}
